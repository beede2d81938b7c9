package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/gin-gonic/gin"
)

// demoPolicy lets the page load its own files and speak to any Muster, and nothing else.
const demoPolicy = "default-src 'self'; connect-src 'self' ws: wss:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// demoIndex is the file that is served at /.
const demoIndex = "index.html"

// demoTypes are the content types by extension. The system's own table, which the library would ask, differs
// between machines, and a script of another type is not run.
var demoTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".ico":  "image/x-icon",
	".json": "application/json",
	".txt":  "text/plain; charset=utf-8",
}

// serveDemo serves the files of assets, the index at /. They are read now, once; one that cannot be read is a
// fault of the build, since assets are embedded, and panics.
func serveDemo(engine *gin.Engine, assets fs.FS) {
	err := fs.WalkDir(assets, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(assets, name)
		if err != nil {
			return err
		}
		at := "/" + name
		if name == demoIndex {
			at = "/"
		}
		getAndHead(engine, at, serveAsset(name, content))
		return nil
	})
	if err != nil {
		panic(fmt.Errorf("demo page: %w", err))
	}
}

// serveAsset serves one file. A browser asks each time whether it changed, so that a page never runs with scripts
// of another version, and mostly gets a 304.
func serveAsset(name string, content []byte) gin.HandlerFunc {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	kind, ok := demoTypes[path.Ext(name)]
	if !ok {
		kind = "application/octet-stream"
	}
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h.Set("Content-Security-Policy", demoPolicy)
		h.Set("Content-Type", kind)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", tag)
		http.ServeContent(c.Writer, c.Request, name, time.Time{}, bytes.NewReader(content))
	}
}
