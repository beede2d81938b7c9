package server

import (
	"net/http"
	"testing"

	"github.com/musterhq/muster/lua"
)

func TestAWorldThatIsNotUnderstoodIsNotServedAndNotClosed(t *testing.T) {
	t.Parallel()
	i := launch(t, settings(t, serving(group("world1", 2))))
	newer := append(declarations(i.config.Worlds), lua.DeclaredWorld{Name: "newer", State: "open", Hash: "h", Settings: `{"mode":"newer"}`})
	if _, err := i.server.store.DeclareWorlds(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if err := i.server.worlds.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	i.wantStatus(http.StatusNotFound, object{"code": "unknown_world"}, "", get, "/v1/matching/queue-status/newer", "")
	// As after a loss of history, by the instance that does not understand it.
	if err := i.server.worlds.Declare(t.Context(), i.server.store.Epoch()); err != nil {
		t.Fatal(err)
	}
	worlds, _, err := i.server.store.ReadWorlds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, w := range worlds {
		states[string(w.Name)] = w.State
	}
	if states["newer"] != "open" || states["world1"] != "open" {
		t.Errorf("states %v", states)
	}
}
