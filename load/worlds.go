package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// worldsPath is where a server lists its worlds.
const worldsPath = "/v1/matching/worlds"

// maxListBytes bounds the list of worlds.
const maxListBytes = 8 << 20

// world is what the judge needs to know of one. The zero value is one of which nothing is known.
type world struct {
	Name string `json:"name"`
	Mode string `json:"mode"`
	Size int    `json:"size"`
}

// exact reports whether its matches have Size players, neither more nor fewer.
func (w world) exact() bool { return w.Mode == "group" || w.Mode == "duel" }

// readWorlds asks a server for its worlds. They are nil where it does not list any, which a proxy in
// front of it may be the reason of.
func readWorlds(ctx context.Context, address string) (map[string]world, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	u.Path, u.RawQuery = worldsPath, ""
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("list worlds: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it was read
	var list struct {
		Worlds []world `json:"worlds"`
	}
	if response.StatusCode != http.StatusOK ||
		json.NewDecoder(io.LimitReader(response.Body, maxListBytes)).Decode(&list) != nil {
		return nil, nil
	}
	worlds := make(map[string]world, len(list.Worlds))
	for _, w := range list.Worlds {
		worlds[w.Name] = w
	}
	return worlds, nil
}

// missing names the first of the wanted worlds that the server does not list.
func missing(listed map[string]world, wanted []string) error {
	if listed == nil {
		return nil
	}
	for _, name := range wanted {
		if _, ok := listed[name]; !ok {
			var names []string
			for known := range listed {
				names = append(names, known)
			}
			slices.Sort(names)
			return fmt.Errorf("the server has no world %q; it has %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}
