package serve

import (
	"bytes"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// page serves the built page. It needs no token and holds no secret. A path that names no file and
// has no extension is a place inside the page.
type page struct {
	files fs.FS
	serve http.Handler
	theme func() string
}

func newPage(files fs.FS, theme func() string) page {
	return page{files, http.FileServerFS(files), theme}
}

// ServeHTTP serves GET of every path that no other route has.
func (p page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	info, err := fs.Stat(p.files, name)
	switch {
	case err == nil && info.Mode().IsRegular() && name != "index.html" && !strings.HasPrefix(path.Base(name), "."):
		if strings.HasPrefix(name, "assets/") { // named by its content
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		p.serve.ServeHTTP(w, r)
	case path.Ext(name) != "" && name != "index.html":
		http.NotFound(w, r)
	default:
		p.index(w)
	}
}

func (p page) index(w http.ResponseWriter) {
	text, err := fs.ReadFile(p.files, "index.html")
	if err != nil {
		http.Error(w, "This build of Carrel has no page in it. Run `make build` and start it again.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(p.themed(text))
}

// themed writes the chosen theme into the page, which so looks right from its first paint on.
func (p page) themed(text []byte) []byte {
	const attribute = `data-theme-choice="`
	if p.theme == nil {
		return text
	}
	if theme := p.theme(); theme == "light" || theme == "dark" {
		return bytes.Replace(text, []byte(attribute+"system"), []byte(attribute+theme), 1)
	}
	return text
}
