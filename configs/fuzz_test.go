package configs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLoad: whatever the file and the environment hold, Load answers with Problems that have a source
// and one line each, or with a Config whose worlds survive the canonical form.
func FuzzLoad(f *testing.F) {
	f.Add(string(Sample), "MUSTER_REALM=x")
	f.Add(rankedWorld, "MUSTER_LIMITS_TRUSTED_PROXIES=::1,")
	f.Add("worlds: [{name: a, mode: duel}, null, 3, {<<: *x}]", "MUSTER_REDIS_URL=redis://h:1/0?addr=h2:2")
	f.Add("a: &a [*a]\n? [b]\n: c\n--- \n...", "MUSTER_ORIGINS=https://[::1]:8080")
	f.Add("listen: !!binary aGk=\norigins: !!null x\nredis.url: x\n\"\\n\": 1", "MUSTER_A\n\xff=1")
	f.Fuzz(func(t *testing.T, text, variable string) {
		if strings.Contains(text, "_file") || strings.Contains(variable, "_FILE") {
			t.Skip("would open any file of the machine")
		}
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(Options{File: path, Environ: []string{variable}})
		if err != nil {
			var ps Problems
			if !errors.As(err, &ps) || len(ps) == 0 {
				t.Fatalf("not Problems: %v", err)
			}
			for _, p := range ps {
				if p.Source == "" || p.Source == "settings" || p.Source == "defaults" || strings.Contains(p.String(), "\n") {
					t.Fatalf("problem %q", p.String())
				}
			}
			return
		}
		for _, w := range c.Worlds {
			if again, err := ParseWorld(w.Settings()); err != nil || again.Settings() != w.Settings() {
				t.Fatalf("%s: %v", w.Settings(), err)
			}
		}
	})
}
