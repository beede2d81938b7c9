package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"muster/configs"
	"muster/journal"
	"muster/webhooks"
)

// webhooksCommand looks after deliveries that receivers did not take.
func webhooksCommand() *cobra.Command {
	return deadCommands(deadKind{
		name: "webhooks", short: "List and retry webhook deliveries that were given up",
		what: "webhook deliveries that were given up", open: openDeliveries,
	})
}

// openDeliveries finds them where they are: in the journal's outbox where there is one, in Redis otherwise.
func openDeliveries(ctx context.Context, config configs.Config) (deadOffice, error) {
	if config.Journal.URL != "" {
		database, err := openRecord(ctx, config)
		return deliveries{database, config.Webhooks}, err
	}
	known := make(map[string]string)
	for _, w := range config.Webhooks {
		known[webhooks.Group(w.URL.Reveal())] = receiver(w.URL.Reveal(), config.Webhooks)
	}
	return openLetters(config, func(group string) bool { return strings.HasPrefix(group, webhooks.GroupPrefix) },
		func(group string) string {
			if address, ok := known[group]; ok {
				return address
			}
			return group // an address that is no longer set
		})
}

// receiver names an address: its host, and its place in the settings.
func receiver(address string, known []configs.Webhook) string {
	for i, w := range known {
		if w.URL.Reveal() == address {
			return fmt.Sprintf("%s (webhooks[%d])", shown(address), i)
		}
	}
	return shown(address)
}

// shown is an address without what may be a secret: user, password, query, and the path, in which chat services have
// their tokens.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return unset
	}
	return u.Scheme + "://" + u.Host
}

// deliveries are those of the journal's outbox.
type deliveries struct {
	*journal.Database
	known []configs.Webhook
}

func (d deliveries) close() error { d.Close(); return nil }

func (d deliveries) list(ctx context.Context, limit int) ([]dead, error) {
	all, err := d.DeadDeliveries(ctx, limit)
	if err != nil {
		return nil, err
	}
	list := make([]dead, len(all))
	for i, one := range all {
		var body struct {
			Match, Ticket struct {
				ID string `json:"id"`
			}
		}
		_ = json.Unmarshal([]byte(one.Body), &body) // where it cannot be read, it is about nothing that can be shown
		list[i] = dead{
			ID: one.Event, At: one.DiedAt, Event: one.Type, About: body.Match.ID + body.Ticket.ID, To: receiver(one.URL, d.known), Reason: one.Reason,
			Body: one.Body,
		}
	}
	return list, nil
}

func (d deliveries) putBack(ctx context.Context, id string) (int, error) { return d.Replay(ctx, id) }
