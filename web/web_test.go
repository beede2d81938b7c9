package web_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/web"
)

func ExampleDemo() {
	recorder := httptest.NewRecorder()
	http.FileServerFS(web.Demo()).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Println(recorder.Code, recorder.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}

// assets reads every file of the demo page.
func assets(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(web.Demo(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(web.Demo(), name)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestDemoHasItsPageAndTheClient(t *testing.T) {
	t.Parallel()
	files := assets(t)
	for _, name := range []string{"index.html", "style.css", "app.js", "muster.js", "favicon.svg"} {
		if files[name] == "" {
			t.Errorf("%s is missing or empty", name)
		}
	}
}

var (
	relative = regexp.MustCompile(`(?:\b(?:src|href)=|\bfrom )"([^"/:#][^":]*)"`)
	outside  = regexp.MustCompile(`(?i)(?:https?|ftp):|["'(]//\w`)
)

func TestDemoLoadsWhatIsThereAndNothingElse(t *testing.T) {
	t.Parallel()
	files := assets(t)
	loaded := []string{"index.html"}
	for name, content := range files {
		for _, match := range relative.FindAllStringSubmatch(content, -1) {
			loaded = append(loaded, path.Clean(match[1]))
		}
		plain := strings.ReplaceAll(content, "http://www.w3.org/2000/svg", "")
		if match := outside.FindString(plain); match != "" {
			t.Errorf("%s names an outside resource: %q", name, match)
		}
	}
	for _, name := range loaded {
		if _, ok := files[name]; !ok {
			t.Errorf("%s is loaded and not there", name)
		}
	}
	for name := range files {
		if !slices.Contains(loaded, name) {
			t.Errorf("%s is there and nobody loads it", name)
		}
	}
}

// What a Content-Security-Policy of `default-src 'self'` refuses, and what would parse data as HTML or code.
var forbidden = map[string]*regexp.Regexp{
	"an inline script":             regexp.MustCompile(`(?i)<script[^>]*>[^<]`),
	"a script without a source":    regexp.MustCompile(`(?i)<script(?:\s+type="[^"]*")?\s*>`),
	"an inline style sheet":        regexp.MustCompile(`(?i)<style`),
	"a style attribute":            regexp.MustCompile(`(?i)\sstyle\s*=\s*["']|setAttribute\(\s*["']style|\bstyle:\s*["'` + "`" + `]`),
	"a handler attribute":          regexp.MustCompile(`(?i)<[a-z][^>]*\son[a-z]+\s*=\s*["']`),
	"a javascript or data address": regexp.MustCompile(`(?i)["'(](?:javascript|data):`),
	"data parsed as HTML":          regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc`),
	"text run as code":             regexp.MustCompile(`\beval\(|new Function\(|setTimeout\(\s*["'` + "`" + `]`),
}

func TestDemoFitsAStrictContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	for name, content := range assets(t) {
		for what, pattern := range forbidden {
			if match := pattern.FindString(content); match != "" {
				t.Errorf("%s has %s: %q", name, what, match)
			}
		}
	}
}

func TestForbiddenPatternsSeeWhatTheyForbid(t *testing.T) {
	t.Parallel()
	for what, sample := range map[string]string{
		"an inline script":             `<script type="module">start()</script>`,
		"a script without a source":    `<script type="module"></script>`,
		"an inline style sheet":        `<style>p {}</style>`,
		"a style attribute":            `<p style="color: red">`,
		"a handler attribute":          `<button onclick="go()">`,
		"a javascript or data address": `<img src="data:image/png;base64,">`,
		"data parsed as HTML":          `node.innerHTML = name`,
		"text run as code":             `setTimeout("go()", 10)`,
	} {
		if !forbidden[what].MatchString(sample) {
			t.Errorf("%s is not seen in %s", what, sample)
		}
	}
}
