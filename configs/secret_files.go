package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
)

// maxSecretBytes is far more than any secret has, so that a wrong path cannot fill the memory.
const maxSecretBytes = 64 << 10

// twinSuffix is what the key of a secret's twin ends in: the path of a file that holds the secret.
const twinSuffix = "_file"

// resolveSecrets reads the files that the …_file twins of secrets name. A secret and its twin are one
// setting: both in the same layer is a problem, otherwise the one of the higher layer counts.
func (l *loader) resolveSecrets(target any) {
	l.resolve(reflect.ValueOf(target).Elem(), "")
}

func (l *loader) resolve(v reflect.Value, path string) {
	switch {
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			l.resolve(v.Elem(), path)
		}
	case shapeOf(v.Type()) == list && shapeOf(v.Type().Elem()) == section:
		for i := range v.Len() {
			l.resolve(v.Index(i), element(path, i))
		}
	case shapeOf(v.Type()) == section:
		known := fields(v.Type())
		for i, f := range known {
			if f.typ == secretType {
				twin := known[i+1] // a test sees to it that it is the next one
				l.resolveTwins(f, v.Field(f.index), v.Field(twin.index), path)
				continue
			}
			l.resolve(v.Field(f.index), join(path, f.key))
		}
	}
}

func (l *loader) resolveTwins(f field, secret, twin reflect.Value, section string) {
	path := join(section, f.key)
	pathOfFile := path + twinSuffix
	if twin.String() == "" {
		return
	}
	if secret.String() != "" {
		a, b := l.origin(path).layer, l.origin(pathOfFile).layer
		switch {
		case a == b:
			l.report("is set as well as "+path+"; give one of the two", pathOfFile)
			return
		case a > b:
			twin.SetString("")
			return
		}
	}
	text, err := readSecret(twin.String())
	if err != nil {
		l.reject(pathOfFile, "cannot be read: "+reason(err))
		return
	}
	value, wrong := parse(f, text)
	if wrong != "" {
		l.reject(pathOfFile, "names a file whose text "+wrong)
		return
	}
	secret.Set(reflect.ValueOf(value))
}

// The marks with which some editors begin a file.
const (
	utf8Mark                 = "\xef\xbb\xbf"
	utf16LEMark, utf16BEMark = "\xff\xfe", "\xfe\xff"
)

// readSecret is the text of a file without the line end and the byte order mark that editors put there. A file without text
// is an error: a secret that was asked for must not turn into none.
func readSecret(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSecretBytes+1))
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(strings.TrimPrefix(string(data), utf8Mark), "\r\n")
	switch {
	case strings.HasPrefix(text, utf16LEMark), strings.HasPrefix(text, utf16BEMark):
		return "", errors.New("the file is UTF-16; save it as UTF-8")
	case len(data) > maxSecretBytes:
		return "", fmt.Errorf("the file has more than %d bytes", maxSecretBytes)
	case text == "":
		return "", errors.New("the file is empty")
	}
	return text, nil
}

// reason is an error without the name of the operation, and with that of the file once.
func reason(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return quote(pathError.Path) + ": " + pathError.Err.Error()
	}
	return err.Error()
}
