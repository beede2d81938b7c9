package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"muster/configs"
	"muster/internal/ident"
	"muster/journal"
)

// matchStates are those that the record knows.
var matchStates = []string{"proposed", "allocating", "complete", "cancelled", "ended"}

// settingsOf declares the flags of a command that looks at a realm from outside, and returns how its settings are
// read: from the same file and environment as those of the instances.
func settingsOf(cmd *cobra.Command) func() (configs.Config, error) {
	var file string
	cmd.Flags().StringVar(&file, "config", "", "file with the settings (YAML)")
	cmd.Flags().String("realm", configs.Default().Realm, "realm to look at")
	cmd.Flags().String("redis-url", "", "redis://, rediss:// or unix://")
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	return func() (configs.Config, error) {
		if showsPassword(cmd.Flags()) {
			cmd.PrintErrln("warning: " + passwordOnCommandLine)
		}
		return loadSettings(file, cmd.Flags())
	}
}

// matchesCommand lists what the durable record has.
func matchesCommand() *cobra.Command {
	var (
		filter journal.Filter
		since  string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use: "matches [ID]", Short: "List matches of the durable record (journal.url), the newest first, or show all of one",
		Example: `  muster matches --config muster.yaml --player ana --since 24h
  muster matches 01997f3e-5a70-7cc1-9d3e-0a4f3b8f2c11 --json`,
	}
	settings := settingsOf(cmd)
	cmd.Flags().StringVar((*string)(&filter.Player), "player", "", "only matches that this player is or was in")
	cmd.Flags().StringVar((*string)(&filter.World), "world", "", "only matches of this world")
	cmd.Flags().StringVar(&filter.State, "state", "", "only matches in this state: "+strings.Join(matchStates, ", "))
	cmd.Flags().StringVar(&since, "since", "", "only matches created since a time (2026-11-29T12:00:00Z) or for so long (24h)")
	cmd.Flags().IntVar(&filter.Limit, "limit", 20, "how many to list at most")
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON, one match a line")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 || len(args) == 1 && !ident.Valid(args[0]) {
			return &usageError{fmt.Errorf("%q is not the id of one match", strings.Join(args, " "))}
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var err error
		if filter.Since, err = sinceOf(since, time.Now()); err != nil {
			return err
		}
		if filter.State != "" && !slices.Contains(matchStates, filter.State) {
			return &usageError{fmt.Errorf("--state must be %s, is %q", strings.Join(matchStates, ", "), filter.State)}
		}
		if filter.Limit < 1 {
			return &usageError{fmt.Errorf("--limit must be at least 1, is %d", filter.Limit)}
		}
		config, err := settings()
		if err != nil {
			return err
		}
		matches, err := readMatches(cmd.Context(), config, args, filter)
		if err != nil {
			return err
		}
		if asJSON {
			return writeLines(cmd.OutOrStdout(), matches)
		}
		if len(args) == 1 {
			return writeMatch(cmd.OutOrStdout(), matches[0])
		}
		return writeMatches(cmd.OutOrStdout(), matches)
	}
	return cmd
}

// sinceOf is the time that --since gives: a time, or how long before now; zero for "".
func sinceOf(since string, now time.Time) (time.Time, error) {
	if since == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, since); err == nil {
		return t, nil
	}
	d, err := time.ParseDuration(since)
	if err != nil || d < 0 {
		return time.Time{}, &usageError{fmt.Errorf("--since must be a time such as 2026-11-29T12:00:00Z or a duration such as 24h, is %q", since)}
	}
	return now.Add(-d), nil
}

func readMatches(ctx context.Context, config configs.Config, args []string, filter journal.Filter) ([]journal.Match, error) {
	database, err := openRecord(ctx, config)
	if err != nil {
		return nil, err
	}
	defer database.Close()
	if len(args) == 0 {
		return database.Matches(ctx, filter)
	}
	match, err := database.Match(ctx, ident.Match(args[0]))
	if err != nil {
		return nil, err
	}
	return []journal.Match{match}, nil
}

// openRecord opens the durable record that the settings name.
func openRecord(ctx context.Context, config configs.Config) (*journal.Database, error) {
	if config.Journal.URL == "" {
		return nil, errors.New("there is no durable record: journal.url is not set (give --config or MUSTER_JOURNAL_URL)")
	}
	return journal.OpenDatabase(ctx, config.Journal.URL.Reveal(), config.Realm)
}

func writeMatches(out io.Writer, matches []journal.Match) error {
	rows := [][]string{{"CREATED", "ID", "WORLD", "STATE", "REASON", "PLAYERS"}}
	for _, m := range matches {
		var players []string
		for _, p := range m.Players {
			name := string(p.ID)
			if p.Left {
				name += " (left)"
			}
			players = append(players, name)
		}
		rows = append(rows, []string{moment(m.CreatedAt), string(m.ID), string(m.World), m.State, m.Reason, strings.Join(players, ", ")})
	}
	return writeList(out, rows)
}

// writeMatch writes all that the record has of a match, one field a line. What never was is left out.
func writeMatch(out io.Writer, m journal.Match) error {
	var rows [][]string
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	add("id", string(m.ID))
	add("world", string(m.World))
	add("state", m.State)
	add("reason", m.Reason)
	add("created", moment(m.CreatedAt))
	for _, at := range []struct {
		name string
		time *time.Time
	}{
		{"proposed", m.ProposedAt}, {"accept by", m.AcceptBy}, {"allocating", m.AllocatingAt},
		{"complete", m.CompletedAt}, {"expires", m.EndsAt}, {"ended", m.EndedAt},
	} {
		if at.time != nil {
			add(at.name, moment(*at.time))
		}
	}
	for _, room := range slices.Sorted(maps.Keys(m.Rooms)) {
		add("room "+room, m.Rooms[room])
	}
	add("endpoint", string(m.Endpoint))
	if m.OpenSeats > 0 || m.TakenSeats > 0 {
		add("seats", fmt.Sprintf("%d open, %d taken", m.OpenSeats, m.TakenSeats))
	}
	for _, p := range m.Players {
		add("player", strings.Join(append([]string{string(p.ID)}, remarks(p)...), ", "))
	}
	return writeTable(out, rows)
}

// remarks are what became of a player of a match.
func remarks(p journal.Player) (all []string) {
	for _, r := range []struct {
		holds bool
		text  string
	}{{p.Shown, "shown"}, {p.Accepted, "accepted"}, {p.Left, "left"}} {
		if r.holds {
			all = append(all, r.text)
		}
	}
	return all
}

// moment is a time as it is shown to people.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000Z") }

// unset is shown where a column has nothing to say.
const unset = "-"

// writeList writes rows as a table; the first row names the columns. A list without another row says so.
func writeList(out io.Writer, rows [][]string) error {
	if len(rows) == 1 {
		_, err := fmt.Fprintln(out, "nothing here")
		return err
	}
	return writeTable(out, rows)
}

// writeTable writes rows with their columns aligned.
func writeTable(out io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if cell == "" {
				row[i] = unset
			}
		}
		if _, err := fmt.Fprintln(table, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return table.Flush()
}

// writeLines writes each value as one line of JSON.
func writeLines[T any](out io.Writer, values []T) error {
	encoder := json.NewEncoder(out)
	for _, v := range values {
		if err := encoder.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
