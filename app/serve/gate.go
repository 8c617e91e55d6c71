package serve

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"carrel/app"
)

// gate decides by a request's Host, Origin and Sec-Fetch-Site whether it comes from our own page
// or from no page at all. It stands before every route, so that a page of another site, or a name
// that someone else points at this machine, reaches nothing.
type gate struct {
	hosts map[string]bool // lower case, with port; a name without one is behind a proxy
}

// newGate returns the gate of a listener on port. Names may carry a port of their own.
func newGate(port int, names []string) gate {
	p := strconv.Itoa(port)
	g := gate{hosts: map[string]bool{
		"127.0.0.1:" + p: true,
		"localhost:" + p: true,
		"[::1]:" + p:     true,
	}}
	for _, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" {
			continue
		}
		g.hosts[name] = true
		if _, _, err := net.SplitHostPort(name); err != nil {
			g.hosts[net.JoinHostPort(strings.Trim(name, "[]"), p)] = true
		}
	}
	return g
}

// refuses returns why a request may not pass, or "".
func (g gate) refuses(r *http.Request) string {
	host := strings.ToLower(r.Host)
	if !g.knows(host) && !arrivedAt(r, host) {
		return "This address is not one of this server's names. Start it with --allow-host NAME to add one."
	}
	origins, sent := r.Header["Origin"]
	if sent && (len(origins) != 1 || !sameOrigin(origins[0], host)) {
		return "A page of another site may not use this server."
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return ""
	}
	// Another site may send the person here, as a link or the window's first page does; it learns
	// nothing by it. A socket carries its page's Origin, which counts more.
	if isNavigation(r) || (sent && r.Header.Get("Upgrade") != "") {
		return ""
	}
	return "A page of another site may not use this server."
}

// knows reports whether host is one of the names, with port 80 left out or not.
func (g gate) knows(host string) bool {
	return g.hosts[host] || g.hosts[host+":80"]
}

// arrivedAt reports whether host is the very address, an IP, that the connection was made to. No
// name is behind it, so nobody can have pointed it here.
func arrivedAt(r *http.Request, host string) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && (local.String() == host || local.String() == host+":80")
}

// sameOrigin reports whether origin is a page of the host that the request names.
func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	return strings.ToLower(origin) == u.Scheme+"://"+host
}

// isNavigation reports whether the browser asks for a page to show on its own.
func isNavigation(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "/" || r.URL.Path == app.CoderCallback) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// secure sets the headers of every answer. There are no CORS headers: no other page reads anything.
func secure(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy(r.Host))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
}

// policy is the page's Content-Security-Policy: scripts from here only, styles from here and inline
// (terminal, editor and formula renderers inject them), nothing remote, no frames. The socket is
// named because not every engine counts it as 'self'. host has passed the gate.
func policy(host string) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self' 'unsafe-inline'",
		"img-src 'self' data: blob:",
		"media-src 'self' blob:",
		"font-src 'self' data:",
		"connect-src 'self' ws://" + host + " wss://" + host,
		"worker-src 'self'",
		"manifest-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-src 'none'",
		"frame-ancestors 'none'",
	}, "; ")
}
