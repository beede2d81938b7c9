package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// browserPatience is longer than patience: a browser starts slowly on a busy machine.
const browserPatience = 4 * patience

// demoWorlds are those of a server without a file, by name and kind.
const demoWorlds = `
  - {name: world1, mode: group, size: 3, rooms: [game, chat], tick: 100ms}
  - {name: world2, mode: group, size: 3, rooms: [game, chat], tick: 100ms}
  - {name: voice, mode: duel, tick: 100ms}
`

// browserPath finds a browser of Chromium's kind.
func browserPath(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROME_BIN"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Fatal("the demo page needs a browser: install Chromium with `apt-get install chromium`, or name one in CHROME_BIN")
	return ""
}

// newBrowser starts a browser with a profile of its own and returns its first tab.
func newBrowser(t *testing.T, flags ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), browserPatience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(flags,
		chromedp.ExecPath(browserPath(t)), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("headless", "new"), chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("no-first-run", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WSURLReadTimeout(browserPatience))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has ended, so that its profile can go
		cancel()
	})
	return ctx
}

// tab is one page of a browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// read runs an action that has a result.
func read[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	result, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// awaitPlayer waits until the page is connected, and returns its player.
func (b *tab) awaitPlayer() (id string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(`#connection[data-state="online"]`)))
	return read(b, chromedp.Value(chromedp.CSS("#player")))
}

func (b *tab) join(world string) {
	b.t.Helper()
	button := chromedp.CSS(fmt.Sprintf(`[data-world=%q] [data-action="join"][aria-disabled="false"]`, world))
	b.do(chromedp.WaitVisible(button), chromedp.Click(button))
}

// awaitMatch waits for the match and returns its room and its players.
func (b *tab) awaitMatch() (room string, players []string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS("#match [data-room]")))
	return read(b, chromedp.Evaluate[string](`document.querySelector("#match [data-room]").dataset.roomId`)),
		read(b, chromedp.Evaluate[[]string](`[...document.querySelectorAll("#match [data-player]")].map((e) => e.dataset.player).sort()`))
}

// picture keeps a screenshot under artifacts, for people to look at.
func (b *tab) picture(name string, width int64, scheme string) {
	b.t.Helper()
	var options []chromedp.EmulateViewportOption
	if width < 600 {
		options = append(options, chromedp.EmulateMobile) // whose scroll bar takes no room
	}
	b.do(chromedp.EmulateViewport(width, 844, options...), colours(scheme))
	if read(b, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`)) {
		b.t.Errorf("at %d pixels the page is wider than the window", width)
	}
	png := read(b, chromedp.FullScreenshot(100))
	file := filepath.Join(artifacts(b.t), fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
	if err := os.WriteFile(file, png, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.checkAccessible(fmt.Sprintf("%s, %d pixels, %s", name, width, scheme))
}

// checkAccessible has axe-core look at the page if the variable AXE names its file, axe.min.js of the npm package axe-core.
func (b *tab) checkAccessible(state string) {
	b.t.Helper()
	file := os.Getenv("AXE")
	if file == "" {
		return
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	read(b, chromedp.Evaluate[bool](string(axe)+`;
		globalThis.axeResult = undefined;
		axe.run().then((result) => {
			globalThis.axeResult = result.violations.flatMap((v) => v.nodes.map((n) => v.id + " " + n.target.join(" ") + ": " + n.failureSummary));
		});
		true`))
	var found []string
	eventually(b.t, func() string {
		if !read(b, chromedp.Evaluate[bool](`globalThis.axeResult !== undefined`)) {
			return "axe is not done"
		}
		found = read(b, chromedp.Evaluate[[]string](`globalThis.axeResult`))
		return ""
	})
	for _, violation := range found {
		b.t.Errorf("%s: %s", state, violation)
	}
}

// colours has the page drawn as on a light or a dark system.
func colours(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}, // nothing is on its way
			},
		})
		return err
	})
}

func (b *tab) pictures(name string) {
	b.t.Helper()
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.picture(name, width, scheme)
		}
	}
}

func TestTwoTabsMeetOnTheDemoPage(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1, withWorlds(demoWorlds), calmPresence)
	page := "http://" + c.instances[0].addr + "/"
	first := &tab{t, newBrowser(t)}
	first.do(chromedp.Navigate(page))
	firstID := first.awaitPlayer()
	first.pictures("lobby")

	first.do(chromedp.Reload())
	if id := first.awaitPlayer(); id != firstID {
		t.Errorf("after a reload the player is %s, before it was %s", id, firstID)
	}

	second := first.duplicate(page)
	secondID := second.awaitPlayer()
	if secondID == firstID {
		t.Fatalf("the duplicated tab is %s too", secondID)
	}

	first.join("voice")
	first.do(chromedp.WaitVisible(chromedp.CSS(`[data-world="voice"] [data-action="leave"]`)))
	first.pictures("waiting")
	second.join("voice")
	room, players := first.awaitMatch()
	otherRoom, otherPlayers := second.awaitMatch()
	want := []string{firstID, secondID}
	slices.Sort(want)
	if room == "" || room != otherRoom || !slices.Equal(players, want) || !slices.Equal(otherPlayers, want) {
		t.Errorf("the tabs are in rooms %q and %q with %v and %v, want one room of %v", room, otherRoom, players, otherPlayers, want)
	}
	first.pictures("match")
	if first := read(first, chromedp.Text(chromedp.CSS("#match .actions button:first-child"))); first != "Copy room id" {
		t.Errorf("the first thing to do with a match is %q", first)
	}

	first.do(chromedp.Reload())
	if again, _ := first.awaitMatch(); again != room {
		t.Errorf("after a reload the room is %q, before it was %q", again, room)
	}
}

// duplicate opens the page in another tab that begins with a copy of this one's session storage, as
// "duplicate tab" of a browser does.
func (b *tab) duplicate(page string) *tab {
	b.t.Helper()
	opened := chromedp.WaitNewTarget(b.ctx, func(info *target.Info) bool { return info.URL != "" })
	asUser := func(p *runtime.EvaluateParams) { // without it the browser blocks the tab as a pop-up
		yes := true
		p.UserGesture = &yes
	}
	if !read(b, chromedp.Evaluate[bool](fmt.Sprintf("window.open(%q) !== null", page), asUser)) {
		b.t.Fatal("the browser opens no tab")
	}
	select {
	case id := <-opened:
		ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(id))
		b.t.Cleanup(cancel)
		return &tab{b.t, ctx}
	case <-b.ctx.Done():
		b.t.Fatal("the tab does not open")
		return nil
	}
}
