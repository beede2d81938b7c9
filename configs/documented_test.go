package configs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
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
			file := strings.NewReplacer("/etc/muster/allocator.secret", secret, "allocator.secret", secret).Replace(block[1])
			if c, err := Load(Options{File: write(t, "muster.yaml", file)}); err != nil || c.Worlds[0].Allocator == nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// The manifests for Agones fit each other and the settings that their page shows.
func TestManifestsForAgones(t *testing.T) {
	t.Parallel()
	var (
		values struct {
			Agones struct {
				Allocator struct {
					DisableMTLS, DisableTLS bool
					Service                 struct {
						HTTP struct {
							Port, TargetPort int
						}
					}
				}
			}
			Gameservers struct{ Namespaces []string }
		}
		policy struct {
			Metadata struct{ Namespace string }
			Spec     struct {
				Ingress []struct{ Ports []struct{ Port int } }
			}
		}
		fleet struct {
			Metadata struct{ Name, Namespace string }
		}
	)
	for name, target := range map[string]any{"values.yaml": &values, "network-policy.yaml": &policy, "fleet.yaml": &fleet} {
		text, err := os.ReadFile(filepath.Join("..", "deploy", "agones", name))
		if err != nil {
			t.Fatal(err)
		}
		var content map[string]any // yaml.v3 reads only keys in small letters into fields without a tag
		if err := yaml.Unmarshal(text, &content); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		asJSON, err := json.Marshal(content)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := json.Unmarshal(asJSON, target); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "deploy", "agones", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	allocator := values.Agones.Allocator
	for _, shown := range []string{
		fmt.Sprintf("url: http://agones-allocator.%s:%d\n", policy.Metadata.Namespace, allocator.Service.HTTP.Port),
		fmt.Sprintf("selector: {agones.dev/fleet: %s}\n", fleet.Metadata.Name),
		fmt.Sprintf("namespace: %s\n", fleet.Metadata.Namespace),
	} {
		if !strings.Contains(string(page), shown) {
			t.Errorf("the page does not show %q", shown)
		}
	}
	if !allocator.DisableMTLS || !allocator.DisableTLS || !slices.Contains(values.Gameservers.Namespaces, fleet.Metadata.Namespace) {
		t.Errorf("values = %+v", values)
	}
	if got := policy.Spec.Ingress[0].Ports[0].Port; got != allocator.Service.HTTP.TargetPort {
		t.Errorf("Muster may reach port %d, the allocator listens on %d", got, allocator.Service.HTTP.TargetPort)
	}
}
