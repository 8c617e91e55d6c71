package netproxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Gateway makes the proxy a read-only way out: TLS is terminated with Authority, only GET, HEAD and what
// git needs to fetch pass, request headers are cut to an allow list, answers pass as they are. It is not
// free of leaks: the path and query of a read carry data to an allowed host, and a mirror that fetches
// from anywhere carries it on, which Mirrors is for.
type Gateway struct {
	Authority *Authority     // the clients trust it; required
	Roots     *x509.CertPool // who may vouch for hosts; nil is the system's
	GitHosts  []string       // patterns of hosts where git may fetch; a pattern that can't be read matches none
	Mirrors   []Mirror       // the first that matches a host counts
	Agent     string         // the User-Agent of every request, since a free one is a channel; "" is "carrel-gateway/1"
}

// Mirror narrows a host that fetches from other hosts by its path, as module mirrors do.
type Mirror struct {
	Host string // a pattern; one that can't be read matches every host, so that a mistake opens nothing
	// Origins are the paths that may be fetched, such as "github.com/acme" or "golang.org/x": that path
	// itself and what is below it.
	Origins []string
}

// maxFetch bounds what a git client says about the commits that it has.
const maxFetch = 8 << 20

// judge says whether a request is a read.
func (g *Gateway) judge(way *passage, r *http.Request) *refusal {
	body := r.ContentLength != 0 || len(r.TransferEncoding) > 0
	git := matches(g.GitHosts, way.host, false)
	forbid := func(rule, reason string) *refusal {
		return &refusal{status: http.StatusForbidden, rule: rule, reason: reason}
	}
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		if body {
			return forbid(RuleBody, "a read has no body")
		}
		if asksForService(r.URL) && !(git && r.URL.RawQuery == "service=git-upload-pack" &&
			strings.HasSuffix(r.URL.Path, "/info/refs") && plainPath(r.URL)) {
			return forbid(RuleGit, "of git's services only fetching passes, from the hosts that are listed for it")
		}
		way.rule += "+read"
		return g.judgeMirror(way, r.URL)
	case r.Method != http.MethodPost || !git || way.scheme != "https":
		return forbid(RuleMethod, "only reads pass: GET, HEAD and git fetch")
	case !strings.HasSuffix(r.URL.Path, "/git-upload-pack") || r.URL.RawQuery != "" || r.URL.ForceQuery || !plainPath(r.URL) ||
		r.Header.Get("Content-Type") != "application/x-git-upload-pack-request" || len(r.Header["Content-Type"]) != 1:
		return forbid(RuleGit, "the only POST that passes is git's own request to fetch")
	}
	if r.ContentLength > maxFetch {
		return forbid(RuleBody, "a request to fetch is not that long")
	}
	r.Body = http.MaxBytesReader(nil, r.Body, maxFetch)
	way.rule += "+git-fetch"
	return nil
}

func asksForService(u *url.URL) bool {
	// Looked for in every spelling: the path is unescaped, the query is not, so a percent sign in it counts.
	return strings.Contains(lower(u.Path), "/info/refs") || strings.Contains(lower(u.RawQuery), "service=") ||
		strings.Contains(lower(u.Path), "git-receive-pack") || strings.Contains(u.RawQuery, "%") && strings.Contains(lower(u.Path), "/info")
}

// judgeMirror narrows a mirror's paths.
func (g *Gateway) judgeMirror(way *passage, u *url.URL) *refusal {
	for _, m := range g.Mirrors {
		if !matches([]string{m.Host}, way.host, true) {
			continue
		}
		path := strings.TrimPrefix(u.EscapedPath(), "/")
		if plainPath(u) && (path == "" || slices.ContainsFunc(m.Origins, func(o string) bool { return below(path, o) })) {
			return nil
		}
		if plainPath(u) && checksums(path, m.Origins) {
			return nil
		}
		return &refusal{status: http.StatusForbidden, rule: RuleMirror,
			reason: way.host + " fetches from other hosts, and this path is not on its list"}
	}
	return nil
}

func below(path, origin string) bool {
	origin = strings.Trim(origin, "/")
	rest, ok := strings.CutPrefix(path, origin)
	return ok && origin != "" && (rest == "" || rest[0] == '/' || rest[0] == '@')
}

// checksums reports whether path reads the checksum database through a Go module mirror: its tiles, or
// the lookup of a module that may be fetched (a lookup of another makes the mirror fetch it).
func checksums(path string, origins []string) bool {
	rest, ok := strings.CutPrefix(path, "sumdb/")
	_, rest, found := strings.Cut(rest, "/")
	if !ok || !found {
		return false
	}
	module, lookup := strings.CutPrefix(rest, "lookup/")
	if lookup {
		return slices.ContainsFunc(origins, func(o string) bool { return below(module, o) })
	}
	return rest == "supported" || rest == "latest" || strings.HasPrefix(rest, "tile/") && strings.Trim(rest[5:], "0123456789x/.pdat") == ""
}

// plainPath reports whether a path means the same to every parser.
func plainPath(u *url.URL) bool {
	p := u.EscapedPath()
	return !strings.Contains(p, "%") && !strings.Contains(p, "//") && !strings.Contains(p, "/.") && !strings.ContainsAny(p, ";\\")
}

func matches(patterns []string, host string, broken bool) bool {
	return slices.ContainsFunc(patterns, func(text string) bool {
		p, err := readPattern(text)
		return err != nil && broken || err == nil && p.covers(host)
	})
}

// cutHeaders keeps what a read needs.
func (g *Gateway) cutHeaders(h http.Header) {
	keep := []string{"Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Content-Encoding", "Content-Type",
		"Content-Length", "Git-Protocol", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "Pragma", "Range"}
	for name, values := range h {
		if !slices.Contains(keep, name) || len(values) != 1 || len(values[0]) > 256 {
			delete(h, name)
		}
	}
	agent := g.Agent
	if agent == "" {
		agent = "carrel-gateway/1"
	}
	h.Set("User-Agent", agent)
}

// terminate ends the client's TLS and reads the requests inside.
func (t *tunnel) terminate(ctx context.Context) {
	s := t.server
	certificate, err := s.p.config.Gateway.Authority.certificate(t.host, time.Now())
	if err != nil {
		t.refused(&refusal{rule: RuleUnreachable, reason: "no certificate could be made for " + t.host})
		return
	}
	conn := tls.Server(&handed{Conn: t.client, read: t.read}, &tls.Config{
		Certificates: []tls.Certificate{*certificate}, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12,
	})
	hello, cancel := context.WithTimeout(ctx, s.p.config.Limits.Head)
	defer cancel()
	if conn.HandshakeContext(hello) != nil {
		t.refused(&refusal{rule: RuleNotTLS, reason: "the client did not finish TLS with the gateway; does it trust its authority?"})
		return
	}
	t.client, t.read = conn, nil
	t.inside("https")
}
