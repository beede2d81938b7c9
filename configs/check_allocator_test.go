package configs

import (
	"strings"
	"testing"
	"time"
)

func TestAllocators(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", "hunter2\n")
	address := write(t, "address", "https://u:p@games.example/allocate?token=hunter2\n")
	c := mustLoad(t, Options{File: write(t, "muster.yaml", `
worlds:
- name: hooked
  allocator: {webhook_file: `+address+`, secret_file: `+secret+`, timeout: 30s, attempts: 10}
- name: plain
  allocator: {webhook: "http://127.0.0.1:9000"}
- name: fleet
  allocator: {agones: {url: "https://agones-allocator.agones-system/", selector: {agones.dev/fleet: shooter, v: ""}}}
`)})
	for i, want := range []Allocator{
		{Webhook: "https://u:p@games.example/allocate?token=hunter2", WebhookFile: address, Secret: "hunter2", SecretFile: secret, Timeout: 30 * time.Second, Attempts: 10},
		{Webhook: "http://127.0.0.1:9000", Timeout: 5 * time.Second, Attempts: 3},
		{Timeout: 5 * time.Second, Attempts: 3, Agones: &Agones{
			URL: "https://agones-allocator.agones-system/", Namespace: "default", Selector: map[string]string{"agones.dev/fleet": "shooter", "v": ""}}},
	} {
		w := c.Worlds[i]
		if d := diff(want, *w.Allocator); d != "" {
			t.Errorf("%s: (-want +got)\n%s", w.Name, d)
		}
		// As another instance adopts it: it has the same file, or does not serve the world.
		text := w.Settings()
		got, err := ParseWorld(text)
		if d := diff(w, got); err != nil || d != "" || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %v %s (-written +read)\n%s", w.Name, err, text, d)
		}
	}
}

// Instances of older versions declare URLs with a query.
func TestParseWorld_TakesAQuery(t *testing.T) {
	t.Parallel()
	w, err := ParseWorld(`{"name":"a","allocator":{"webhook":"http://h/?pool=eu","timeout":"5s","attempts":3}}`)
	if err != nil || w.Allocator.Webhook.Reveal() != "http://h/?pool=eu" {
		t.Errorf("allocator %+v, %v", w.Allocator, err)
	}
}

func TestAWorldWhoseSecretIsNotHereIsNotServed(t *testing.T) {
	t.Parallel()
	_, err := ParseWorld(`{"name":"a","allocator":{"webhook":"http://h","secret_file":"/nowhere","timeout":"5s","attempts":3}}`)
	const want = `world settings:1: allocator.secret_file: cannot be read: "/nowhere": no such file or directory`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestRefusedAllocators(t *testing.T) {
	t.Parallel()
	const (
		one  = "F:1: worlds[0].allocator: needs exactly one of webhook (or webhook_file) and agones"
		user = ": must not have a user, a password or a query: instances share the settings of a world through Redis, and a secret " +
			"stays out of it; put the URL into a file that "
		value  = ": must be the value of a label of Kubernetes: at most 63 characters out of A-Z a-z 0-9 . _ -, is "
		name   = ": must have the name of a label of Kubernetes, such as agones.dev/fleet"
		scheme = ": must be a URL that starts with http:// or https://"
	)
	for title, c := range map[string][2]string{
		"neither":       {"{timeout: 1s}", one},
		"nothing":       {"{}", one},
		"both":          {"{webhook: 'http://h', agones: {url: 'http://h'}}", one},
		"no URL":        {"{agones: {namespace: a}}", "F:1: worlds[0].allocator.agones.url: is missing"},
		"scheme":        {"{webhook: 'ftp://h'}", `F:1: worlds[0].allocator.webhook` + scheme},
		"scheme of it":  {"{agones: {url: 'grpc://h:443'}}", `F:1: worlds[0].allocator.agones.url` + scheme},
		"no time":       {"{webhook: 'http://h', timeout: 0s}", `F:1: worlds[0].allocator.timeout: must be a duration from 1ms to 30s, such as 1500ms or 30s, is "0s"`},
		"much time":     {"{webhook: 'http://h', timeout: 31s}", `F:1: worlds[0].allocator.timeout: must be a duration from 1ms to 30s, such as 1500ms or 30s, is "31s"`},
		"no attempts":   {"{webhook: 'http://h', attempts: 0}", `F:1: worlds[0].allocator.attempts: must be a whole number from 1 to 10, is "0"`},
		"many attempts": {"{webhook: 'http://h', attempts: 11}", `F:1: worlds[0].allocator.attempts: must be a whole number from 1 to 10, is "11"`},
		"secret": {"{webhook: 'http://h', secret: hunter2}", "F:1: worlds[0].allocator.secret: must be in a file that secret_file names: " +
			"instances share the settings of a world through Redis, and a secret stays out of it"},
		"user":        {"{webhook: 'http://u:hunter2@h'}", "F:1: worlds[0].allocator.webhook" + user + "webhook_file names"},
		"user of it":  {"{agones: {url: 'http://u@h'}}", "F:1: worlds[0].allocator.agones.url" + user + "url_file names"},
		"token":       {"{webhook: 'http://h/a?token=hunter2'}", "F:1: worlds[0].allocator.webhook" + user + "webhook_file names"},
		"fragment":    {"{webhook: 'http://h/#x'}", "F:1: worlds[0].allocator.webhook: must not have a fragment (#…): it is not sent"},
		"query":       {"{agones: {url: 'http://h/?x=y'}}", "F:1: worlds[0].allocator.agones.url: must not have a query: the path of the call is appended to it"},
		"namespace":   {"{agones: {url: 'http://h', namespace: Games}}", `F:1: worlds[0].allocator.agones.namespace: must be a namespace of Kubernetes: at most 63 characters out of a-z 0-9 -, is "Games"`},
		"label":       {"{agones: {url: 'http://h', selector: {a/b/c: d}}}", "F:1: worlds[0].allocator.agones.selector.a/b/c" + name},
		"label alone": {"{agones: {url: 'http://h', selector: {'-a': d}}}", "F:1: worlds[0].allocator.agones.selector.-a" + name},
		"value":       {"{agones: {url: 'http://h', selector: {a: 'b c'}}}", "F:1: worlds[0].allocator.agones.selector.a" + value + `"b c"`},
		"our own":     {"{agones: {url: 'http://h', selector: {muster/match: x}}}", "F:1: worlds[0].allocator.agones.selector.muster/match: is the label that Muster gives the server of a match"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			rejected{file: "worlds: [{name: a, allocator: " + c[0] + "}]\n", want: c[1]}.check(t)
		})
	}
	secret := write(t, "secret", "hunter2")
	rejected{
		file: "worlds:\n- name: a\n  allocator:\n    agones: {url: 'http://h'}\n    secret_file: " + secret + "\n",
		want: "F:5: worlds[0].allocator.secret_file: signs the calls of a webhook; Agones does not look at it",
	}.check(t)
}
