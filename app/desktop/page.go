package desktop

import (
	"embed"
	"net/http"
	"strings"
)

//go:embed page
var pageFiles embed.FS

// ownPolicy is the Content-Security-Policy of the window's own page. Wails adds two scripts of its
// own to it, from the same place.
const ownPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-src 'none'"

// ownPage serves the window's own page, and nothing else.
type ownPage struct{ secret *secret }

// ServeHTTP serves the page with a new secret in it, its script and its style.
func (p ownPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, kind := "", ""
	switch r.URL.Path {
	case "/", "/index.html":
		name, kind = "index.html", "text/html; charset=utf-8"
	case "/page.js":
		name, kind = "page.js", "text/javascript; charset=utf-8"
	case "/page.css":
		name, kind = "page.css", "text/css; charset=utf-8"
	}
	text, err := pageFiles.ReadFile("page/" + name)
	if name == "" || err != nil || r.Method != http.MethodGet {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", ownPolicy)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if name == "index.html" {
		text = []byte(strings.NewReplacer("{{secret}}", p.secret.renew(), "{{policy}}", ownPolicy).Replace(string(text)))
	}
	_, _ = w.Write(text)
}
