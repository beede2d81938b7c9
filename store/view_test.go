package store

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
)

// view is the realm's state as a test reads it, past the scripts.
type view struct {
	now       int64 // in milliseconds
	epoch     ident.Place
	records   map[ident.Player]Record
	matches   map[ident.Match]Match
	deadlines map[string]float64                           // mx
	queues    map[ident.World]map[ident.Player]ident.Place // q:<world>:1
	away      map[string]float64
	kept      map[string]float64
	leases    map[string]float64
	published map[string]string
	holders   map[string][]string // ip:<instance>
	presences map[ident.Player][]string
	notices   map[ident.Player][]string
	open      map[ident.World]string        // ws:<world> open
	apart     map[string]bool               // rc:
	rooms     map[string]map[string]float64 // op:<world>
	asking    map[string]float64            // al
	seats     map[string]float64            // sh
	worlds    map[string]string
}

// view reads the whole realm.
func (b *bundle) view() *view {
	b.Helper()
	v := &view{
		now: (b.now + b.ahead()) / 1000, records: map[ident.Player]Record{}, matches: map[ident.Match]Match{},
		queues: map[ident.World]map[ident.Player]ident.Place{}, holders: map[string][]string{},
		presences: map[ident.Player][]string{}, notices: map[ident.Player][]string{}, open: map[ident.World]string{},
		apart: map[string]bool{}, rooms: map[string]map[string]float64{},
	}
	hashes, scores, keys := map[string]*redis.MapStringStringCmd{}, map[string]*redis.ZSliceCmd{}, b.keys()
	sets, texts, lists := map[string]*redis.StringSliceCmd{}, map[string]*redis.StringCmd{}, map[string]*redis.StringSliceCmd{}
	b.pipelined(func(pipe redis.Pipeliner) {
		for _, key := range keys {
			name := strings.TrimPrefix(key, b.key(""))
			kind, _, _ := strings.Cut(name, ":")
			switch kind {
			case "meta", "pl", "m", "pub", "ws", "w":
				hashes[name] = pipe.HGetAll(b.ctx, key)
			case "q", "aw", "kp", "mx", "ins", "op", "al", "sh":
				scores[name] = pipe.ZRangeWithScores(b.ctx, key, 0, -1)
			case "ip":
				sets[name] = pipe.SMembers(b.ctx, key)
			case "pr", "rc":
				texts[name] = pipe.Get(b.ctx, key)
			case "no":
				lists[name] = pipe.LRange(b.ctx, key, 0, -1)
			}
		}
	})
	b.readHashes(v, hashes)
	for name, cmd := range scores {
		members := map[string]float64{}
		for _, z := range cmd.Val() {
			members[fmt.Sprint(z.Member)] = z.Score
		}
		b.readScores(v, name, members)
	}
	for name, cmd := range sets {
		v.holders[strings.TrimPrefix(name, "ip:")] = cmd.Val()
	}
	for name, cmd := range texts {
		kind, rest, _ := strings.Cut(name, ":")
		switch text := cmd.Val(); {
		case text == "": // it ended meanwhile
		case kind == "rc":
			until, err := strconv.ParseInt(text, 10, 64)
			v.apart[name] = err == nil && (until == 1 || until > v.now) // 1: by an older version
		default:
			v.presences[ident.Player(rest)] = strings.Split(text, "|")
		}
	}
	for name, cmd := range lists {
		v.notices[ident.Player(strings.TrimPrefix(name, "no:"))] = cmd.Val()
	}
	return v
}

func (b *bundle) readHashes(v *view, hashes map[string]*redis.MapStringStringCmd) {
	b.Helper()
	for name, cmd := range hashes {
		fields := cmd.Val()
		switch name {
		case "meta":
			n, err := strconv.ParseInt(fields["epoch"], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			v.epoch = ident.Place(n)
		case "pl":
			for player, text := range fields {
				r, err := ParseRecord(text)
				if err != nil {
					b.Fatal(err)
				}
				v.records[ident.Player(player)] = r
			}
		case "m":
			for id, text := range fields {
				m, err := ParseMatch(ident.Match(id), text)
				if err != nil {
					b.Fatal(err)
				}
				v.matches[m.ID] = m
			}
		case "pub":
			v.published = fields
		case "w":
			v.worlds = fields
		default:
			v.open[ident.World(strings.TrimPrefix(name, "ws:"))] = fields["open"]
		}
	}
}

func (b *bundle) readScores(v *view, name string, members map[string]float64) {
	switch name {
	case "aw":
		v.away = members
	case "kp":
		v.kept = members
	case "mx":
		v.deadlines = members
	case "ins":
		v.leases = members
	case "al":
		v.asking = members
	case "sh":
		v.seats = members
	default:
		if world, ok := strings.CutPrefix(name, "op:"); ok {
			v.rooms[world] = members
			return
		}
		queue := map[ident.Player]ident.Place{}
		for player, place := range members {
			queue[ident.Player(player)] = ident.Place(place)
		}
		v.queues[ident.World(strings.TrimSuffix(strings.TrimPrefix(name, "q:"), ":1"))] = queue
	}
}

// isLive tells whether a player is live by Redis' clock.
func (v *view) isLive(p ident.Player) bool {
	f := v.presences[p]
	if f == nil || f[1] != v.epoch.String() {
		return false
	}
	lease := int64(v.leases[f[2]])
	return f[0] == "H" && int64(v.away[string(p)]) > v.now || f[0] == "L" && lease > v.now && lease <= v.now+3000
}

// live are the live tickets of a world, the oldest first.
func (v *view) live(world ident.World) []ident.Player {
	queue := v.queues[world]
	players := slices.SortedFunc(maps.Keys(queue), func(x, y ident.Player) int { return int(queue[x] - queue[y]) })
	return slices.DeleteFunc(players, func(p ident.Player) bool { return !v.isLive(p) })
}
