package e2e

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"muster/internal/ident"
	"muster/store"
)

// tryRequest makes a back end's HTTP request that may fail, as its instance may be gone.
func (i *instance) tryRequest(method, path, body string) (status int, err error) {
	request, err := http.NewRequest(method, "http://"+i.addr+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	response, err := httpClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// books are the matches and the players' records as Redis has them.
type books struct {
	matches map[ident.Match]store.Match
	records map[ident.Player]store.Record
}

// hash reads a key of the realm that is a hash.
func (c *cluster) hash(name string) map[string]string {
	c.t.Helper()
	fields := map[string]string{}
	reply := c.redisDo("HGETALL", "mm:{"+c.realm+"}:"+name)
	for field, value := range reply.(map[any]any) {
		fields[field.(string)] = value.(string)
	}
	return fields
}

func (c *cluster) readBooks() books {
	c.t.Helper()
	b := books{matches: map[ident.Match]store.Match{}, records: map[ident.Player]store.Record{}}
	for id, text := range c.hash("m") {
		match, err := store.ParseMatch(ident.Match(id), text)
		if err != nil {
			c.t.Errorf("match %s: %v", id, err)
		}
		b.matches[match.ID] = match
	}
	for player, text := range c.hash("pl") {
		record, err := store.ParseRecord(text)
		if err != nil {
			c.t.Errorf("record of %s: %v", player, err)
		}
		b.records[ident.Player(player)] = record
	}
	return b
}

// balance is what does not agree between the matches and the records, "" for nothing: everybody who is in a match has
// a record that names it, and the other way about, and of a match with seats no more are sold than there are.
func (b books) balance(sizes map[string]int) string {
	for id, m := range b.matches {
		for _, p := range m.Players {
			if !slices.Contains(m.Left, p) && b.records[p].Match != id {
				return fmt.Sprintf("match %s (%s, %s) has %s, whose record names %q", id, m.World, m.State, p, b.records[p].Match)
			}
		}
		if distinct := slices.Compact(slices.Sorted(slices.Values(m.Players))); len(distinct) != len(m.Players) {
			return fmt.Sprintf("match %s has a player twice: %v", id, m.Players)
		}
		if size := sizes[string(m.World)]; m.Seats && len(m.Players)+m.Open > size {
			return fmt.Sprintf("match %s of %s has %d open seats beside %v", id, m.World, m.Open, m.Players)
		}
	}
	for p, r := range b.records {
		if r.Match == "" {
			continue
		}
		m, ok := b.matches[r.Match]
		switch {
		case !ok:
			return fmt.Sprintf("the record of %s names match %s, which is nowhere", p, r.Match)
		case !slices.Contains(m.Players, p) || slices.Contains(m.Left, p):
			return fmt.Sprintf("the record of %s names match %s, which does not have it", p, r.Match)
		case r.Held != m.Held():
			return fmt.Sprintf("match %s is %s, and the record of %s says held: %v", r.Match, m.State, p, r.Held)
		}
	}
	return ""
}

// told is what does not agree between a player's record and what it was told last, "" for nothing.
func (b books) told(p *player) string {
	believed, record := "", b.records[ident.Player(p.id)]
	if m := p.log.Match(); m != nil {
		believed = m.ID
	}
	if believed != string(record.Match) {
		return fmt.Sprintf("%s believes in match %q, and its record names %q", p.id, believed, record.Match)
	}
	var worlds []string
	for _, t := range record.Waiting() {
		worlds = append(worlds, string(t.World))
	}
	slices.Sort(worlds)
	if waiting := p.log.Waiting(); !slices.Equal(waiting, worlds) {
		return fmt.Sprintf("%s believes to wait in %v, and its record says %v", p.id, waiting, worlds)
	}
	return ""
}

// nothingHeld is what is left of matches that are over, "" for nothing: matches, their ends, servers that are asked
// for, seats that are held or open.
func (c *cluster) nothingHeld() string {
	for _, key := range c.keys() {
		switch kind, _, _ := strings.Cut(key[strings.Index(key, "}:")+2:], ":"); kind {
		case "m", "mx", "al", "an", "sh", "op":
			return key + " is there"
		}
	}
	return ""
}
