package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/configs"
	"muster/store"
)

// journalCommand looks after entries that the durable record would not take.
func journalCommand() *cobra.Command {
	return deadCommands(deadKind{
		name: "journal", short: "List and retry match records that PostgreSQL refused",
		what: "match records that PostgreSQL refused", open: func(_ context.Context, c configs.Config) (deadOffice, error) {
			return openLetters(c, func(group string) bool { return group == store.JournalGroup }, nil)
		},
	})
}

// deadKind is a command for what was given up.
type deadKind struct {
	name, short, what string
	open              func(context.Context, configs.Config) (deadOffice, error)
}

// dead is something that was given up, as it is shown.
type dead struct {
	ID     string            `json:"id"`
	At     time.Time         `json:"at"`
	Event  string            `json:"event"`
	About  string            `json:"about"` // a match, a ticket
	To     string            `json:"to,omitempty"`
	Reason string            `json:"reason"`
	Entry  map[string]string `json:"entry,omitempty"`
	Body   string            `json:"body,omitempty"`
}

// deadOffice has what was given up.
type deadOffice interface {
	// list is at most limit of it.
	list(ctx context.Context, limit int) ([]dead, error)
	// putBack puts one back by its id, or all for "", and tells how many.
	putBack(ctx context.Context, id string) (int, error)
	close() error
}

// deadCommands are `muster NAME dead` and `muster NAME replay`.
func deadCommands(kind deadKind) *cobra.Command {
	parent := &cobra.Command{Use: kind.name, Short: kind.short, Args: noArguments, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	parent.AddCommand(listDeadCommand(kind), replayCommand(kind))
	return parent
}

func listDeadCommand(kind deadKind) *cobra.Command {
	var (
		limit  int
		asJSON bool
	)
	cmd := &cobra.Command{Use: "dead", Short: "List " + kind.what, Args: noArguments, Example: "  muster " + kind.name + " dead --config muster.yaml"}
	settings := settingsOf(cmd)
	cmd.Flags().IntVar(&limit, "limit", 100, "how many to list at most")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print every field as JSON, one object per line")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 1 {
			return &usageError{errors.New("limit: must be at least 1")}
		}
		return atOffice(cmd, kind, settings, func(office deadOffice) error {
			list, err := office.list(cmd.Context(), limit)
			if err != nil {
				return err
			}
			if asJSON {
				return writeLines(cmd.OutOrStdout(), list)
			}
			return writeDead(cmd.OutOrStdout(), list)
		})
	}
	return cmd
}

func replayCommand(kind deadKind) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "replay [ID]…", Short: "Retry " + kind.what,
		Example: "  muster " + kind.name + " replay --config muster.yaml --all",
	}
	settings := settingsOf(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "retry all of them, instead of the given ids")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if all == (len(args) > 0) {
			return &usageError{errors.New("give the ids that `muster " + kind.name + " dead` shows, or --all")}
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if all {
			args = []string{""}
		}
		return atOffice(cmd, kind, settings, func(office deadOffice) error {
			sum := 0
			for _, id := range args {
				n, err := office.putBack(cmd.Context(), id)
				if err == nil && n == 0 && id != "" {
					err = fmt.Errorf("%s: %w", id, store.ErrNoDeadLetter)
				}
				if err != nil {
					return err
				}
				sum += n
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "requeued: %d\n", sum)
			return err
		})
	}
	return cmd
}

// atOffice opens what the settings name for as long as do takes.
func atOffice(cmd *cobra.Command, kind deadKind, settings func() (configs.Config, error), do func(deadOffice) error) error {
	config, err := settings()
	if err != nil {
		return err
	}
	office, err := kind.open(cmd.Context(), config)
	if err != nil {
		return err
	}
	return errors.Join(do(office), office.close())
}

func writeDead(out io.Writer, list []dead) error {
	rows := [][]string{{"AT", "ID", "EVENT", "ABOUT", "TO", "REASON"}}
	for _, d := range list {
		rows = append(rows, []string{moment(d.At), d.ID, d.Event, d.About, d.To, strings.ReplaceAll(d.Reason, "\n", " ")})
	}
	return writeList(out, rows)
}

// letters are the dead letters of some groups of the realm's stream.
type letters struct {
	store *store.Store
	of    func(group string) bool
	to    func(group string) string // whom a group is for, in words; nil for nobody
}

// letterPage is how many dead letters are read at a time.
const letterPage = 500

func openLetters(config configs.Config, of func(group string) bool, to func(group string) string) (deadOffice, error) {
	if config.Redis.URL == "" {
		return nil, errors.New("redis.url is not set (give --config, --redis-url or MUSTER_REDIS_URL): an embedded Redis is out of reach")
	}
	st, err := store.Open(store.Options{URL: config.Redis.URL.Reveal(), Realm: config.Realm, Instance: "command"})
	if err != nil {
		return nil, err
	}
	return letters{st, of, to}, nil
}

func (l letters) close() error { return l.store.Close() }

// each visits the letters of the groups, the oldest first, until visit says that it has enough.
func (l letters) each(ctx context.Context, visit func(store.DeadLetter) (bool, error)) error {
	for after := ""; ; {
		page, err := l.store.DeadLetters(ctx, after, letterPage)
		if err != nil {
			return err
		}
		for _, letter := range page {
			if after = letter.ID; !l.of(letter.Group) {
				continue
			}
			if more, err := visit(letter); err != nil || !more {
				return err
			}
		}
		if len(page) < letterPage {
			return nil
		}
	}
}

func (l letters) list(ctx context.Context, limit int) ([]dead, error) {
	var list []dead
	err := l.each(ctx, func(letter store.DeadLetter) (bool, error) {
		f := letter.Entry.Fields
		d := dead{
			ID: letter.ID, At: time.UnixMilli(letter.At), Event: f["event"], About: f["match"] + f["ticket"], Reason: letter.Reason, Entry: f,
		}
		if l.to != nil {
			d.To = l.to(letter.Group)
		}
		list = append(list, d)
		return len(list) < limit, nil
	})
	return list, err
}

func (l letters) putBack(ctx context.Context, id string) (int, error) {
	n := 0
	err := l.each(ctx, func(letter store.DeadLetter) (bool, error) {
		if id != "" && letter.ID != id {
			return true, nil
		}
		n++
		return id == "", l.store.PutBack(ctx, letter.ID)
	})
	return n, err
}
