// Package web holds the pages that Muster serves to browsers, embedded into the binary: the demo page
// and, with it, the JavaScript client of the protocol. It has no logic; how the files are served, and
// under which headers, is the server's business. The files need no outside resource and hold no inline
// script or style, so a strict Content-Security-Policy fits them.
package web

import (
	"embed"
	"io/fs"
)

//go:embed demo
var assets embed.FS

// Demo is the demo page: index.html and what it loads. muster.js is of use on its own. The file
// system is safe for concurrent use.
func Demo() fs.FS {
	demo, err := fs.Sub(assets, "demo")
	if err != nil {
		panic(err) // the name is a constant and valid
	}
	return demo
}
