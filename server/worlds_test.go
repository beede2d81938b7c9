package server

import (
	"net/http"
	"testing"
	"time"

	"muster/store"
)

func TestAWorldThatIsNotUnderstoodIsNotServedAndNotClosed(t *testing.T) {
	t.Parallel()
	i := launch(t, settings(t, serving(group("world1", 2))))
	newer := append(declarations(i.config.Worlds), store.DeclaredWorld{Name: "newer", State: "open", Hash: "h", Settings: `{"mode":"newer"}`})
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

// TestRealmWorlds_ForgetsRemovedWorlds removes a world, and lets a reply of it come afterwards.
func TestRealmWorlds_ForgetsRemovedWorlds(t *testing.T) {
	t.Parallel()
	i := launch(t, settings(t, serving(group("world1", 2), group("world2", 2))))
	worlds := i.server.worlds
	mean := store.MeanWait{Wait: time.Second, At: 1}
	worlds.learn("world1", mean)
	worlds.learn("world2", mean)
	if err := worlds.Replace(t.Context(), i.config.Worlds[:1]); err != nil {
		t.Fatal(err)
	}
	worlds.learn("world2", mean)
	if len(worlds.means) != 1 || worlds.Facts("world1").MeanWait != mean {
		t.Errorf("waits are remembered of %v", worlds.means)
	}
}
