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
	look  func() (theme, density string)
}

func newPage(files fs.FS, look func() (theme, density string)) page {
	return page{files, http.FileServerFS(files), look}
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

// themed writes the chosen theme and density into the page, which so looks right from its first paint on.
func (p page) themed(text []byte) []byte {
	if p.look == nil {
		return text
	}
	theme, density := p.look()
	if theme == "light" || theme == "dark" {
		text = bytes.Replace(text, []byte(`data-theme-choice="system`), []byte(`data-theme-choice="`+theme), 1)
	}
	if density == "compact" {
		text = bytes.Replace(text, []byte(`data-density="comfortable`), []byte(`data-density="compact`), 1)
	}
	return text
}
