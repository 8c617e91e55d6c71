// Package frontend holds the page that every host shows, built by `npm run build` into dist. A
// binary that was built without the page still starts; it then serves an empty folder.
package frontend

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Dist returns the built page: index.html at its top, everything else named by its content's hash.
func Dist() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // dist is part of the binary, so this is a mistake in this file
	}
	return sub
}
