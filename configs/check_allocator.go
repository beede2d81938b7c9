package configs

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// What Kubernetes takes as a namespace, as the value of a label and as its name, with or without a prefix.
var (
	namespace   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	labelValue  = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$`)
	labelName   = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)
	reservedFor = "muster/match" // the label that a match's own server gets
)

// maxLabelName is a prefix of 253 characters, a slash and a name of 63.
const maxLabelName = 253 + 1 + 63

// checkAllocator looks at how the settings of an allocator go together.
func (l *loader) checkAllocator(a *Allocator, path string) {
	if (a.Webhook != "") == (a.Agones != nil) {
		l.report("needs exactly one of webhook (or webhook_file) and agones", path, join(path, "webhook"),
			join(path, "webhook_file"), join(path, "agones"))
	}
	if a.Secret != "" && a.SecretFile == "" {
		l.report("must be in a file that secret_file names: instances share the settings of a world through Redis, "+
			"and a secret stays out of it", join(path, "secret"))
	}
	if a.SecretFile != "" && a.Agones != nil {
		l.report("signs the calls of a webhook; Agones does not look at it", join(path, "secret_file"))
	}
	l.checkSharedURL(a.Webhook, a.WebhookFile, join(path, "webhook"))
	if a.Agones == nil {
		return
	}
	path = join(path, "agones")
	if u, err := url.Parse(a.Agones.URL.Reveal()); err == nil && (u.RawQuery != "" || u.ForceQuery) {
		l.report("must not have a query: the path of the call is appended to it", join(path, "url"), join(path, "url_file"))
	} else {
		l.checkSharedURL(a.Agones.URL, a.Agones.URLFile, join(path, "url"))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Agones.Selector)) {
		at := join(join(path, "selector"), name)
		switch {
		case len(name) > maxLabelName || !labelName.MatchString(name):
			l.report("must have the name of a label of Kubernetes, such as agones.dev/fleet", at)
		case name == reservedFor:
			l.report("is the label that Muster gives the server of a match", at)
		case !labelValue.MatchString(a.Agones.Selector[name]):
			l.report("must be the value of a label of Kubernetes: at most 63 characters out of A-Z a-z 0-9 . _ -"+
				is(a.Agones.Selector[name]), at)
		}
	}
}

// checkSharedURL refuses a secret in a URL of a world, which is shared through Redis unless a file holds it, and a
// fragment, which is not sent.
func (l *loader) checkSharedURL(address Secret, file, path string) {
	u, err := url.Parse(address.Reveal())
	if err != nil || address == "" {
		return // reported
	}
	if file != "" {
		path += twinSuffix
	}
	switch {
	case u.Fragment != "":
		l.report("must not have a fragment (#…): it is not sent", path)
	case file != "": // stays here
	case u.User != nil, u.RawQuery != "" && !l.adopting:
		l.report("must not have a user, a password or a query: instances share the settings of a world through Redis, "+
			"and a secret stays out of it; put the URL into a file that "+path[strings.LastIndex(path, ".")+1:]+twinSuffix+" names", path)
	}
}
