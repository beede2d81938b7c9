package e2e

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a fenced block of a document. The line before it may be a comment that directs the test: `<!-- file: NAME -->`
// makes it a file, `<!-- not run: REASON -->` leaves it alone.
type block struct {
	line           int
	language, text string
	file, notRun   string
}

var (
	fence     = regexp.MustCompile("(?ms)^(?:<!-- (file|not run): (.+?) -->\n)?```(\\w+)\n(.*?)^```$")
	resultful = regexp.MustCompile(`(?m)# (\{"open":\d+,"taken":\d+\})`) // a comment that says what the line prints
)

// blocksOf reads the blocks of a document.
func blocksOf(t *testing.T, name string) (blocks []block) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, at := range fence.FindAllStringSubmatchIndex(text, -1) {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return text[at[2*n]:at[2*n+1]]
		}
		b := block{line: 1 + strings.Count(text[:at[0]], "\n"), language: group(3), text: group(4)}
		switch group(1) {
		case "file":
			b.file = group(2)
		case "not run":
			b.notRun = group(2)
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// TestDocuments_BlocksRun runs each block of shell or JavaScript of the documents as a reader does: pasted into a shell of
// its own, in a directory with the files that the document shows.
func TestDocuments_BlocksRun(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md") {
		name := filepath.ToSlash(strings.TrimPrefix(page, ".."+string(filepath.Separator)))
		blocks := blocksOf(t, name)
		if !runs(blocks) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, blocks)
			for _, b := range blocks {
				if b.file == "" && b.notRun == "" {
					r.paste(b)
				}
			}
			r.check(name)
		})
	}
}

// runs reports whether there is anything to run.
func runs(blocks []block) bool {
	for _, b := range blocks {
		if b.notRun == "" && (b.language == "sh" || b.language == "js") {
			return true
		}
	}
	return false
}

// check holds what a document promises of its receivers against what they printed and what is recorded.
func (r *docReader) check(name string) {
	r.t.Helper()
	switch name {
	case "docs/webhooks.md":
		awaitText(r.t, &r.printed, `"type":"match.completed"`)
	case "docs/match-life.md":
		awaitText(r.t, &r.printed, "match.completed")
		awaitText(r.t, &r.printed, "match.ended")
		eventually(r.t, func() string {
			out, err := r.program("matches", "--config", "all.yaml", "--json", "--state", "ended")
			if err != nil || !strings.Contains(out, `"endpoint":{"address":"127.0.0.1","port":7777}`) {
				return fmt.Sprintf("recorded: %v\n%s", err, out)
			}
			return ""
		})
	}
}

// rewrite puts a document's addresses on ports of the test's own, and the built program in the place of `go run .`.
func (r *docReader) rewrite(text string) string {
	for _, port := range []string{"9100", "9999"} {
		_, own, _ := net.SplitHostPort(r.addressOf(port))
		text = strings.ReplaceAll(text, port, own)
	}
	return strings.NewReplacer("127.0.0.1:8080", r.address, "127.0.0.1:5432", r.postgresAddr(text), "go run .", program).Replace(text)
}

// TestDocuments_LogMessagesExist looks for each message of the list for alerts in the source.
func TestDocuments_LogMessagesExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(page), "## Log messages worth an alert")
	if !found {
		t.Fatal("there is no list")
	}
	var source strings.Builder
	err = filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// A message may be put together from two constants.
	text := strings.ReplaceAll(source.String(), `" + kept`, `; the stream keeps what happens"`)
	rows := regexp.MustCompile("(?m)^\\| (`.+?`) \\|").FindAllStringSubmatch(list, -1)
	if len(rows) == 0 {
		t.Error("the list is empty")
	}
	for _, row := range rows {
		for _, message := range strings.Split(strings.Trim(row[1], "`"), "`, `") {
			if !strings.Contains(text, `"`+message+`"`) {
				t.Errorf("no code logs %q", message)
			}
		}
	}
}
