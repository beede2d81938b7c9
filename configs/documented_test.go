package configs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Settings that the documentation shows are settings that work.
func TestDocumentedSettings(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", "hunter2")
	for _, page := range []string{"docs/allocation.md", "deploy/agones/README.md"} {
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)\n```yaml\n(.*?)\n```\n").FindAllStringSubmatch(string(text), -1)
		if len(blocks) == 0 {
			t.Errorf("%s shows no settings", page)
		}
		for _, block := range blocks {
			file := strings.ReplaceAll(block[1], "/etc/muster/allocator.secret", secret)
			if c, err := Load(Options{File: write(t, "muster.yaml", file)}); err != nil || c.Worlds[0].Allocator == nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
