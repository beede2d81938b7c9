package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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
	second.focused("match")
	second.do(chromedp.KeyEvent(kb.Enter)) // it answers nothing, and leaves nothing
	second.holds(`document.title.startsWith("Ready? 0:") && document.querySelector(".metrics").hidden &&
		!document.querySelector("#world-list").textContent.includes("more player")`)
	first.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	first.do(chromedp.WaitNotPresent(chromedp.CSS(`#match [data-action="accept"]`)))
	first.focused("match") // the button is gone
	second.do(chromedp.KeyEvent(kb.Tab))
	second.holds(`document.querySelector("#match .ready").textContent.includes("1 of 2") && document.activeElement.dataset.action === "accept"`)
	second.do(chromedp.KeyEvent(kb.Enter))
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
	first.focused("match")

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

// holds waits until an expression of the page is true.
func (b *tab) holds(expression string) {
	b.t.Helper()
	eventually(b.t, func() string {
		if read(b, chromedp.Evaluate[bool]("Boolean("+expression+")")) {
			return ""
		}
		return expression + " does not hold: " + read(b, chromedp.Evaluate[string](`document.title + ": " + document.body.innerText`))
	})
}

// focused waits until an element has the focus.
func (b *tab) focused(id string) {
	b.t.Helper()
	b.holds(fmt.Sprintf("document.activeElement.id === %q", id))
}

func TestDemoPage_TellsADeclineOnce(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1, calmPresence, withWorlds(`
  - {name: ranked, mode: duel, tick: 100ms, match_hold: 5m, ready_check: 60s}
  - {name: lounge, mode: group, size: 3, tick: 100ms}
`))
	page := "http://" + c.instances[0].addr + "/"
	first := &tab{t, newBrowser(t)}
	first.do(chromedp.Navigate(page))
	first.awaitPlayer()
	second := first.duplicate(page)
	second.awaitPlayer()
	first.join("lounge")
	for _, tab := range []*tab{first, second} {
		tab.join("ranked")
	}
	first.do(chromedp.Click(chromedp.CSS(`#match [data-action="decline"]`)))
	second.do(chromedp.WaitVisible(chromedp.CSS(`[data-notice]`)))
	first.holds(`document.querySelectorAll("[data-notice]").length === 1 &&
		/^You were not ready.*(lounge and ranked|ranked and lounge)\.$/.test(document.querySelector("[data-notice] p").textContent)`)
	first.pictures("declined")
	for _, tab := range []*tab{first, second} {
		tab.holds(`document.querySelectorAll("[data-notice]").length === 1 && document.querySelector("[data-notice]").dataset.notice === "bad"`)
	}
	first.focused("main") // and not lost with the panel
}

func TestDemoPage_SaysWhyThereIsNoConnection(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1, calmPresence, withWorlds(demoWorlds))
	i := c.instances[0]
	_, port, _ := strings.Cut(i.addr, ":")
	b := &tab{t, newBrowser(t, chromedp.Flag("host-resolver-rules", "MAP play.example 127.0.0.1"))}

	// A page of a name that is not the server's own: the server is there, and refuses it.
	b.do(chromedp.Navigate("http://play.example:" + port + "/"))
	b.holds(`document.querySelector("#offline-text").textContent.startsWith("The server refuses pages of http://play.example:")`)
	b.pictures("refused")

	b.do(chromedp.Navigate("http://" + i.addr + "/"))
	b.awaitPlayer()
	b.join("voice")
	b.do(chromedp.WaitVisible(chromedp.CSS(`[data-world="voice"] [data-action="leave"]`)))
	i.kill()
	b.holds(`/^Connection lost: the server does not answer\. Your places are kept for \d+ s\. Trying again (in \d+ s|now)\.$/.test(
		document.querySelector("#offline-text").textContent)`)
	b.pictures("offline")
	for _, scheme := range []string{"light", "dark"} {
		b.do(colours(scheme))
		if faint := read(b, chromedp.Evaluate[[]string](faintTexts)); len(faint) > 0 {
			t.Errorf("%s, offline: contrast below 4.5: %s", scheme, strings.Join(faint, "; "))
		}
	}
	i.start()
	i.awaitReady()
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#offline-action").click()`))
	b.awaitPlayer()
	b.holds(`document.querySelector("#offline").hidden && document.querySelector('[data-world="voice"] [data-action="leave"]')`)
}

// faintTexts lists the visible texts outside the match whose contrast is below 4.5, as WCAG 2 computes it.
const faintTexts = `(() => {
	const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const rgba = (color) => {
		canvas.clearRect(0, 0, 1, 1);
		canvas.fillStyle = color;
		canvas.fillRect(0, 0, 1, 1);
		return [...canvas.getImageData(0, 0, 1, 1).data];
	};
	const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
		.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const mix = (over, under, alpha) => over.slice(0, 3).map((v, i) => v * alpha + under[i] * (1 - alpha));
	const faint = [];
	for (const node of document.querySelectorAll("body *")) {
		const text = [...node.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join(" ").trim();
		if (!text || !node.checkVisibility() || node.closest("#match, .visually-hidden, .skip, .avatar")) continue;
		let opacity = 1;
		let ground = null;
		for (let at = node; at; at = at.parentElement) {
			const style = getComputedStyle(at);
			opacity *= style.opacity;
			const color = rgba(style.backgroundColor);
			if (!ground && color[3] === 255) ground = color;
		}
		const ink = rgba(getComputedStyle(node).color);
		const [high, low] = [mix(ink, ground, opacity * ink[3] / 255), ground].map(luminance).sort((a, b) => b - a);
		const contrast = (high + 0.05) / (low + 0.05);
		if (contrast < 4.5) faint.push(text.slice(0, 40) + " " + contrast.toFixed(2));
	}
	return faint;
})()`
