package load

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed report.html
var pageSource string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"ms": showMS, "rate": showRate, "thousands": thousands,
}).Parse(pageSource))

// pageData is what the page shows.
type pageData struct {
	*Report
	Facts []fact
	// Headline is the latency that matters most, nil where there is none.
	Headline *Latency
	// Plots are each drawn twice: for a wide window and for a phone's.
	Curves, Rates []plot
}

// WriteHTML writes the report as a page that needs nothing but itself.
func (r *Report) WriteHTML(w io.Writer) error {
	data := pageData{
		Report: r, Facts: r.facts()[1:], // the verdict is above
		Curves: r.curves(), Rates: r.rates(),
	}
	if len(r.Latencies) > 0 {
		data.Headline = &r.Latencies[0]
	}
	return page.Execute(w, data)
}
