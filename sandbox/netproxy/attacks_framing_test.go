package netproxy

import (
	"encoding/base64"
	"strings"
)

// B. request target, Host and framing; C. credentials; F. resources.

func framingAttacks() []attack {
	return append(append(targetAttacks(), smuggling()...), credentialAttacks()...)
}

func targetAttacks() []attack {
	schemes := func(*rig) []shot {
		var list []shot
		for _, u := range []string{"ftp://denied.test/", "file:///etc/passwd", "https://denied.test/", "gopher://denied.test:80/_x",
			"HTTP://denied.test/", "javascript:x", "unix:/run/docker.sock", "//denied.test/", "*", "/", "http:denied.test", "http:///denied.test"} {
			list = append(list, get(u, "Host: allowed.test"))
		}
		return list
	}
	return []attack{
		{id: "P28", name: "host-vs-uri", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots:  shots(get("http://denied.test/", "Host: allowed.test"), get("http://allowed.test/", "Host: denied.test")),
			status: []int{403}, reached: `127\.0\.1\.2|denied`},
		{id: "P29", name: "duplicate-host", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: shots(get("http://allowed.test/", "Host: allowed.test", "Host: denied.test"), get("http://allowed.test/", "Host: allowed.test, denied.test"),
				get("http://allowed.test/", "Host: allowed.test,denied.test"), get("/", "Host: allowed.test", "Host: denied.test"), get("http://allowed.test/"),
				shot{raw: "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\nHost: denied.test:443\r\n\r\n"}),
			status: []int{400}, reached: `denied.test|127\.0\.1\.2`},
		{id: "P31", name: "other-schemes", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: schemes, status: []int{400}, reached: `127\.0\.1\.2`, answered: `root:`},
		{id: "P39", name: "http10-and-09", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: shots(shot{line: "GET http://denied.test/ HTTP/1.0", headers: []string{"Host: allowed.test"}}, shot{raw: "GET http://denied.test/\r\n"},
				shot{line: "GET http://denied.test/ HTTP/2.0", headers: []string{"Host: allowed.test"}}, shot{raw: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
				shot{line: "GET http://allowed.test/ HTTP/1.10", headers: []string{"Host: allowed.test"}}, shot{line: "GET http://allowed.test/ http/1.1"}),
			status: []int{505, 400}, reached: `127\.0\.1`},
		{id: "P39", name: "connect-of-http10", profile: "both", control: []shot{{raw10: "CONNECT allowed.test:443 HTTP/1.0", tls: "allowed.test", line: "GET / HTTP/1.1",
			headers: []string{"Host: allowed.test"}}}, want: fromAllowed, shots: shots(shot{raw10: "CONNECT denied.test:443 HTTP/1.0", tls: "denied.test", line: "GET / HTTP/1.1"}),
			status: []int{403}, reached: `127\.0\.1\.2`},
		{id: "P38", name: "crlf-in-target", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: shots(through("allowed.test:443%0d%0aInjected:1"),
				shot{raw: "CONNECT allowed.test:443\r\nInjected: 1\r\nX: y HTTP/1.1\r\nHost: x\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"}),
			status: []int{400}, reached: `smuggled|"Injected"`},
		{id: "P38", name: "crlf-in-path", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: shots(get("http://allowed.test/%0d%0aInjected:%201", "Host: allowed.test")), status: []int{200}, reached: `"Injected"`, both: true},
		{id: "P41", name: "websocket-upgrade", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: func(*rig) []shot {
				s := get("http://allowed.test/", "Host: allowed.test", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
					"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
				s.then = "EXFIL-DATA"
				h2c := get("http://allowed.test/", "Host: allowed.test", "Connection: upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA")
				return []shot{s, h2c, get("http://allowed.test/", "Host: allowed.test", "Connection: close, uPgRade")}
			}, status: []int{403}, reached: `"ws"|"Upgrade"|"method"`},
		{id: "P63", name: "redirect-followed", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: shots(get("http://allowed.test/redirect", "Host: allowed.test")), status: []int{302}, reached: `127\.0\.1\.2`, both: true},
		{id: "P79", name: "log-forging", profile: "both", control: []shot{plainGet}, want: fromAllowed, // every attack looks at the log
			shots: shots(get("http://x%0ahost=forged/", "Host: x"), through("x\nhost=forged:443"), through("a\x1b[2Jb:443"),
				get("http://"+strings.Repeat("x", 3000)+"/", "Host: x")), status: []int{400}, reached: `"method"`},
	}
}

func smuggling() []attack {
	hidden := "GET /smuggled HTTP/1.1\r\nHost: denied.test\r\n\r\n"
	post := func(body string, headers ...string) shot {
		return shot{line: "POST http://allowed.test/a HTTP/1.1", headers: append([]string{"Host: allowed.test"}, headers...), body: body}
	}
	return []attack{
		{id: "P33", name: "pipelined", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: func(r *rig) []shot {
				s := get("http://allowed.test/1", "Host: allowed.test")
				s.body = r.request("GET http://denied.test/2 HTTP/1.1", []string{"Host: denied.test"}, shot{}, true)
				return []shot{s}
			}, status: []int{200}, reached: `127\.0\.1\.2|denied`, both: true},
		{id: "P34", name: "smuggle-cl-te", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: shots(post("0\r\n\r\n"+hidden, "Content-Length: 60", "Transfer-Encoding: chunked"), post("0\r\n\r\n"+hidden, "Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
				post("0\r\n\r\n"+hidden, "Transfer-Encoding: xchunked"), post(hidden, "Transfer-Encoding : chunked"), post(hidden, "Content-Length: 0", " folded: 1")),
			status: []int{400}, reached: `smuggled`},
		{id: "P36", name: "smuggle-double-cl", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: shots(post(hidden, "Content-Length: 0", "Content-Length: 47"), post("AAAAA"+hidden, "Content-Length: +5"),
				post(hidden, "Content-Length: 0, 47"), post(hidden, "Content-Length: 0x0")), status: []int{400}, reached: `smuggled`},
		{id: "P34", name: "connect-with-body", profile: "both", control: []shot{secureGet}, want: fromAllowed,
			shots: func(r *rig) []shot {
				var list []shot
				for _, h := range []string{"Content-Length: 5", "Transfer-Encoding: chunked", "Upgrade: h2c", "Connection: Upgrade"} {
					list = append(list, shot{raw: r.request("CONNECT allowed.test:443 HTTP/1.1", []string{"Host: allowed.test", h}, shot{}, true)})
				}
				return list
			}, status: []int{400}, reached: `"method"`},
		{id: "P34", name: "bare-line-ends", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots: shots(shot{raw: "GET http://allowed.test/ HTTP/1.1\nHost: allowed.test\n\n\r\n\r\n"}, get("http://allowed.test/", "Host: allowed.test", "A: b\nC: d"),
				get("http://allowed.test/", "Host: allowed.test", "A: b\rC: d"), get("http://allowed.test/", "Host: allowed.test", "A: \x00")),
			status: []int{400}, reached: `"method"`},
		{id: "P76", name: "gzip-bomb", profile: "both", control: []shot{plainGet}, want: fromAllowed,
			shots:  shots(get("http://allowed.test/bomb", "Host: allowed.test", "Accept-Encoding: gzip"), get("http://allowed.test/bomb", "Host: allowed.test")),
			status: []int{200}, arrives: `Content-Encoding: gzip\r\n(?s:.*)\r\n\r\nBOMB$`, both: true},
		{id: "P78", name: "huge-headers", profile: "both", control: []shot{get("http://allowed.test/", "Host: allowed.test", "X: "+strings.Repeat("a", 20000))}, want: fromAllowed,
			shots:  shots(get("http://allowed.test/", "Host: allowed.test", "X: "+strings.Repeat("a", 100000)), get("http://allowed.test/", "Host: allowed.test", strings.Repeat("a:\r\n", 300)+"b:")),
			status: []int{431}, reached: `"method"`},
	}
}

func credentialAttacks() []attack {
	wrong := func(r *rig) []shot {
		pair := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
		other, release := r.proxy.Admit("cmd8", func() Rules { return r.rules })
		over, end := r.proxy.Admit("cmd9", func() Rules { return r.rules })
		end()
		r.t.Cleanup(release)
		var list []shot
		for _, v := range []string{pair(other.User + ":" + r.cred.Password), "Basic ", pair(r.cred.User + ":"), pair(r.cred.User), "Bearer " + r.cred.Password,
			pair(r.cred.User + ":" + r.cred.Password + "x"), pair(":"), pair(over.User + ":" + over.Password), "Basic bad", "Basic " + r.cred.Password} {
			s, c := plainGet, through("allowed.test:443")
			s.auth, c.auth = v, v
			list = append(list, s, c)
		}
		s := get("http://allowed.test/", "Host: allowed.test", "Proxy-Authorization: "+r.authorization())
		s.auth = "Basic bad"
		return append(list, s)
	}
	without := []shot{plainGet, through("allowed.test:443")}
	for i := range without {
		without[i].noauth = true
	}
	return []attack{
		{id: "P43", name: "no-credentials", profile: "both", control: []shot{plainGet, secureGet}, want: fromAllowed,
			shots: shots(without...), status: []int{407}, reached: `"ip"`},
		{id: "P44", name: "wrong-credentials", profile: "both", control: []shot{plainGet, secureGet}, want: fromAllowed,
			shots: wrong, status: []int{407}, reached: `"ip"`},
		{id: "P46", name: "connection-header-abuse", profile: "both", control: []shot{get("http://allowed.test/", "Host: allowed.test", "Accept: x")}, want: `"Accept"`,
			shots: shots(get("http://allowed.test/", "Host: allowed.test", "Connection: X-Hop, close", "X-Hop: 1", "Keep-Alive: 5", "TE: trailers", "Proxy-Connection: x"),
				get("http://allowed.test/", "Host: allowed.test", "Connection: Proxy-Authorization, Host")),
			status: []int{200}, reached: `"(X-Hop|Keep-Alive|Te|Proxy-Connection|Proxy-Authorization)"`, both: true},
	}
}
