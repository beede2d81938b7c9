package e2e

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTabsAreAskedAndGetAServerOnTheDemoPage: two tabs are asked whether they are there, wait for their server, and see
// its address; a third walks into a room beside them.
func TestTabsAreAskedAndGetAServerOnTheDemoPage(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-answer
		_, _ = w.Write([]byte(`{"endpoint":{"address":"198.51.100.7","port":7777}}`))
	}))
	t.Cleanup(receiver.Close)
	c := startCluster(t, 1, calmPresence, withWorlds(`
  - {name: ranked, mode: duel, tick: 100ms, match_hold: 5m, ready_check: 60s, allocator: {webhook: "`+receiver.URL+`", timeout: 30s}}
  - {name: lounge, mode: fill, size: 4, tick: 100ms, match_hold: 5m, seat_hold: 5m}
`))
	page := "http://" + c.instances[0].addr + "/"
	first := &tab{t, newBrowser(t)}
	first.do(chromedp.Navigate(page))
	firstID := first.awaitPlayer()
	second := first.duplicate(page)
	secondID := second.awaitPlayer()

	first.join("ranked")
	second.join("ranked")
	for _, tab := range []*tab{first, second} {
		tab.do(chromedp.WaitVisible(chromedp.CSS(`#match[data-state="proposed"] [data-action="accept"]`)))
	}
	first.pictures("proposed")
	first.do(chromedp.Click(chromedp.CSS(`#match [data-action="accept"]`)))
	first.do(chromedp.WaitNotPresent(chromedp.CSS(`#match [data-action="accept"]`)))
	second.do(chromedp.Click(chromedp.CSS(`#match [data-action="accept"]`)))
	for _, tab := range []*tab{first, second} {
		tab.do(chromedp.WaitVisible(chromedp.CSS(`#match[data-state="allocating"]`)))
	}
	first.pictures("allocating")
	close(answer)
	first.do(chromedp.WaitVisible(chromedp.CSS(`#match[data-state="complete"] .endpoint`)))
	if text := read(first, chromedp.Text(chromedp.CSS("#match .endpoint code"))); text != `{"address":"198.51.100.7","port":7777}` {
		t.Errorf("the server is shown as %s", text)
	}
	first.pictures("server")

	for _, tab := range []*tab{first, second} {
		tab.do(chromedp.Click(chromedp.CSS(`#match [data-action="leave-match"]`)))
		tab.join("lounge")
	}
	first.do(chromedp.WaitVisible(chromedp.CSS(`#match [data-player="` + secondID + `"]`)))
	_, players := second.awaitMatch()
	want := []string{firstID, secondID}
	slices.Sort(want)
	if !slices.Equal(players, want) {
		t.Errorf("the room has %v, want %v", players, want)
	}
}
