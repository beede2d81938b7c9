package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fileParser is the parser that koanf reads the file with. It walks through the nodes of the YAML
// along the schema, because only nodes know their lines.
type fileParser struct {
	*loader
	file string
	root reflect.Type // of the outermost section
}

// Unmarshal gives the values of the file, those that are right; all that is not is reported. It never
// returns an error.
func (p *fileParser) Unmarshal(data []byte) (map[string]any, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	root := &yaml.Node{Kind: yaml.MappingNode, Line: 1} // of a file with nothing but comments
	var document, second yaml.Node
	if err := decoder.Decode(&document); err == nil {
		if !isNull(document.Content[0]) {
			root = document.Content[0]
		}
		if err := decoder.Decode(&second); err == nil {
			p.reportAt(p.at(&second), "", "a second YAML document starts here; only one is read")
		} else if !errors.Is(err, io.EOF) {
			p.syntax(err)
		}
	} else if !errors.Is(err, io.EOF) {
		p.syntax(err)
		return nil, nil
	}
	value, ok := p.value(root, field{typ: p.root}, "")
	if !ok {
		return nil, nil
	}
	return value.(map[string]any), nil
}

// Marshal is there for koanf's interface; nothing writes settings as YAML.
func (p *fileParser) Marshal(map[string]any) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// syntax reports what the YAML parser says. Its lines are sometimes one too low, and there is none for
// the first.
func (p *fileParser) syntax(err error) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if n, _ := fmt.Sscanf(message, "line %d:", &line); n == 1 {
		_, message, _ = strings.Cut(message, ": ")
	}
	// A password that begins with * and is not quoted is taken for the name of an anchor.
	message = anchorName.ReplaceAllString(message, "anchor")
	p.reportAt(origin{layer: layerFile, source: p.file, line: line}, "", "is not YAML about here: "+message)
}

var anchorName = regexp.MustCompile(`anchor '.*'`)

func (p *fileParser) at(n *yaml.Node) origin {
	return origin{layer: layerFile, source: p.file, line: n.Line}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// value reads a node. It is not ok where there is nothing to keep.
func (p *fileParser) value(n *yaml.Node, f field, path string) (value any, ok bool) {
	if !p.known(path) {
		p.origins[path] = p.at(n)
	}
	null := isNull(n)
	switch kind := shapeOf(f.typ); {
	case n.Kind == yaml.AliasNode:
		p.reject(path, "is a YAML alias, which is not understood: write the value out")
	case f.typ == teamsType && n.Kind == yaml.MappingNode:
		return p.evenTeams(n, path)
	case kind == section && n.Kind == yaml.MappingNode:
		return p.section(n, f.typ, path), true
	case kind == list && n.Kind == yaml.SequenceNode && len(n.Content) == 0 && f.tag.Get("empty") == "no":
		p.reject(path, "must not be an empty list")
	case kind == list && n.Kind == yaml.SequenceNode:
		return p.list(n, f, path), true
	case kind == table && n.Kind == yaml.MappingNode:
		return p.table(n, f, path), true
	case kind != scalar && null:
		delete(p.origins, path) // a heading with nothing below it: as if it were not there
	case kind == section || kind == table:
		p.reject(path, "must be a section of keys")
	case kind == list:
		p.reject(path, "must be a list")
	case n.Kind != yaml.ScalarNode:
		p.reject(path, "must be a single value")
	case null:
		p.reject(path, `has no value; "" is the empty text`)
	default:
		return p.scalar(n.Value, f, path)
	}
	return nil, false
}

func (l *loader) scalar(text string, f field, path string) (any, bool) {
	value, wrong := parse(f, text)
	if wrong != "" {
		l.reject(path, wrong)
		return nil, false
	}
	return value, true
}

func (p *fileParser) section(n *yaml.Node, t reflect.Type, path string) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	known := fields(t)
	values := make(map[string]any)
	p.pairs(n, path, func(key string, child *yaml.Node) {
		for _, f := range known {
			if f.key == key {
				if value, ok := p.value(child, f, join(path, key)); ok {
					values[key] = value
				}
				return
			}
		}
		p.reject(join(path, key), "is not a known key; "+DidYouMean(key[:min(len(key), maxQuoted)], keys(known))+"known here: "+strings.Join(keys(known), ", "))
	})
	for _, f := range known {
		at := join(path, f.key)
		given := p.known(at) || f.typ == secretType && p.known(at+twinSuffix)
		if f.needed() && !given {
			p.reject(at, "is missing")
		}
	}
	return values
}

func keys(fs []field) []string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = f.key
	}
	return names
}

// pairs calls visit for each key of a mapping once.
func (p *fileParser) pairs(n *yaml.Node, path string, visit func(key string, value *yaml.Node)) {
	seen := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			p.reportAt(p.at(key), path, "has a key that is not a word")
			continue
		}
		name := printable(key.Value)
		if first, ok := seen[name]; ok {
			p.reportAt(p.at(key), join(path, name), fmt.Sprintf("is set a second time; the first is in line %d", first))
			continue
		}
		seen[name] = key.Line
		p.origins[join(path, name)] = p.at(key)
		visit(name, value)
	}
}

// printable is the key as it stands in a message: short, in one line.
func printable(key string) string {
	if q := quote(key); len(key) > maxQuoted || q != `"`+key+`"` {
		return q
	}
	return key
}

// list keeps a broken section as an empty one, so that those behind it keep their number.
func (p *fileParser) list(n *yaml.Node, f field, path string) []any {
	values := make([]any, 0, len(n.Content))
	for i, child := range n.Content {
		at := element(path, i)
		value, ok := p.value(child, f.element(), at)
		if !ok && shapeOf(f.typ.Elem()) == section {
			if !p.broken[at] { // nothing at all
				p.origins[at] = p.at(child)
				p.reject(at, "must be a section of keys")
			}
			value, ok = map[string]any{}, true
		}
		if ok {
			values = append(values, value)
		}
	}
	return values
}

func (p *fileParser) table(n *yaml.Node, f field, path string) map[string]any {
	values := make(map[string]any)
	p.pairs(n, path, func(key string, child *yaml.Node) {
		if value, ok := p.value(child, f.element(), join(path, key)); ok {
			values[key] = value
		}
	})
	return values
}

// evenTeams writes the short form of teams out.
func (p *fileParser) evenTeams(n *yaml.Node, path string) (any, bool) {
	before := len(p.problems)
	short := p.section(n, reflect.TypeFor[evenTeams](), path)
	if len(p.problems) > before {
		p.broken[path] = true
		return nil, false
	}
	teams := make([]any, 0, short["count"].(int))
	for i := range short["count"].(int) {
		team := map[string]any{"name": fmt.Sprintf("team%d", i+1), "size": short["size"]}
		if least, ok := short["min_size"]; ok {
			team["min_size"] = least
		}
		teams = append(teams, team)
	}
	return teams, true
}
