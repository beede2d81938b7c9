package configs

import "testing"

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	known := []string{"listen", "ops_listen", "redis", "presence", "ttl", "ticket_ttl"}
	for misspelt, want := range map[string]string{
		"lsiten": "did you mean listen? ", "tttl": "did you mean ttl? ", "ticketttl": "did you mean ticket_ttl? ",
		"presense": "did you mean presence? ", "redi": "did you mean redis? ", "colour": "", "": "", "<<": "",
	} {
		if got := DidYouMean(misspelt, known); got != want {
			t.Errorf("%s: %q, want %q", misspelt, got, want)
		}
	}
}
