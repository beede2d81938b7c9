package configs

import "testing"

func TestJournalAndWebhooksAreRead(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", "hunter2\n")
	c := mustLoad(t, Options{File: write(t, "m.yaml", `
journal: {url: "postgres://u:p@h/d"}
webhooks:
- {url: "https://h/x", secret_file: `+secret+`, events: [match.completed, player.dequeued], attempts: 3}
- {url: "http://h/y", events: [match.ended]}
`)})
	if c.Journal.URL.Reveal() != "postgres://u:p@h/d" || c.Journal.Attempts != 8 {
		t.Errorf("journal %+v", c.Journal)
	}
	if w := c.Webhooks; len(w) != 2 || w[0].Secret.Reveal() != "hunter2" || w[0].Attempts != 3 || w[1].Attempts != 8 || len(w[0].Events) != 2 {
		t.Errorf("webhooks %+v", w)
	}
}

func TestWrongJournalsAndWebhooksAreRefused(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]rejected{
		"journal": {file: "journal: {attempts: 0}\n", want: `
F:1: journal.attempts: must be a whole number from 1 to 100, is "0"`},
		"webhook": {file: "webhooks:\n- {url: ftp://h, events: [match.begun]}\n- {url: 'http://h'}\n", want: `
F:2: webhooks[0].url: must be a URL that starts with http:// or https://
F:2: webhooks[0].events[0]: must be match.completed, match.cancelled, match.ended or player.dequeued, is "match.begun"
F:3: webhooks[1].events: is missing`},
		"twice": {file: "webhooks:\n- {url: 'http://h', events: [match.ended]}\n- {url: 'http://h', events: [match.completed]}\n", want: `
F:3: webhooks[1].url: is the same address as that of webhooks[0]; one entry may have several events`},
		"event twice": {file: "webhooks:\n- {url: 'http://h', events: [match.ended, match.ended]}\n", want: `
F:2: webhooks[0].events[1]: is the same event a second time: match.ended`},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); r.check(t) })
	}
}
