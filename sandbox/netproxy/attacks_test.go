package netproxy

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// attack is one entry of the list of attacks on the proxy. Its control has the same shape and passes, in
// the same run: an attack that fails because the rig is broken fails its control first.
type attack struct {
	id, name string
	profile  string // "both", "local" or "gateway"
	gateway  Gateway
	control  []shot
	want     string // a line of the log, or of the answers when it begins with "<"; after the control
	shots    func(r *rig) []shot
	status   []int  // what each shot's answer may be; 0 is none at all
	reached  string // a line of the log that shows that the attack worked
	answered string // the same for the answers
	arrives  string // what every answer must have
	both     bool   // the attack's own request must arrive, only without what reached looks for
}

func shots(list ...shot) func(*rig) []shot { return func(*rig) []shot { return list } }

func rigGateway() Gateway { return Gateway{GitHosts: []string{"git.test"}} }

func TestAttacksOnTheProxyFail(t *testing.T) {
	for _, a := range slices.Concat(hostAttacks(), addressAttacks(), framingAttacks(), tunnelAttacks(), writeAttacks()) {
		for _, profile := range []string{"local", "gateway"} {
			if a.profile != "both" && a.profile != profile {
				continue
			}
			t.Run(a.id+"-"+a.name+"/"+profile, func(t *testing.T) {
				t.Parallel()
				a.run(t, profile)
			})
		}
	}
}

func (a attack) run(t *testing.T, profile string) {
	o := options{}
	if profile == "gateway" {
		g := rigGateway()
		g.Mirrors = a.gateway.Mirrors
		o.gateway = &g
	}
	r := newRig(t, o)
	var answers []string
	for _, s := range a.control {
		answers = append(answers, r.fire(s).text)
	}
	want, in := a.want, r.text()
	if after, ok := strings.CutPrefix(a.want, "<"); ok {
		want, in = after, strings.Join(answers, "\n")
	}
	if !regexp.MustCompile(want).MatchString(in) {
		t.Fatalf("the control did not pass: no %s in\n%s\nanswers: %q\ndecisions: %+v", want, in, answers, r.told())
	}
	r.mu.Lock()
	r.lines = nil
	r.mu.Unlock()
	a.attack(t, r)
}

func (a attack) attack(t *testing.T, r *rig) {
	var answers []string
	for i, s := range a.shots(r) {
		got := r.fire(s)
		answers = append(answers, got.text)
		if !slices.Contains(a.status, got.status) {
			t.Errorf("shot %d %q %q: %s, want %v", i, s.connect, s.line, got, a.status)
		}
		if !regexp.MustCompile(a.arrives).MatchString(got.text) {
			t.Errorf("shot %d %q: no %s in %q", i, s.line, a.arrives, got.text)
		}
	}
	r.stop()
	log := r.text()
	if a.reached != "" && regexp.MustCompile(a.reached).MatchString(log) {
		t.Errorf("the attack worked: %s is in\n%s", a.reached, log)
	}
	if a.answered != "" && regexp.MustCompile(a.answered).MatchString(strings.Join(answers, "\n")) {
		t.Errorf("the attack worked: %s is in %q", a.answered, answers)
	}
	if a.both && !strings.Contains(log, `"method"`) {
		t.Errorf("the request itself did not arrive: %q", answers)
	}
	for _, d := range r.told() {
		if strings.ContainsFunc(d.Host+d.Method+d.Rule+d.Reason, func(c rune) bool { return c < ' ' || c > '~' }) || len(d.Host) > 300 {
			t.Errorf("a decision holds what the client wrote: %#v", d)
		}
	}
}

const fromAllowed = `"ip":"127.0.1.1".*"method":"GET"|"method":"GET".*"ip":"127.0.1.1"`

var (
	plainGet  = get("http://allowed.test/", "Host: allowed.test")
	secureGet = shot{tls: "allowed.test", line: "GET / HTTP/1.1", headers: []string{"Host: allowed.test"}}
	insideGet = shot{line: "GET / HTTP/1.1", headers: []string{"Host: x"}}
)

// through is a shot that asks for a tunnel and then for a page, without TLS.
func through(authority string) shot {
	s := insideGet
	s.connect = authority
	return s
}

// both forms of asking for a host: plain HTTP and a tunnel.
func forms(host string) []shot {
	return []shot{get("http://"+host+"/", "Host: "+host), through(host + ":443")}
}

func hostAttacks() []attack {
	controls := []shot{plainGet, secureGet}
	return []attack{
		{id: "P01", name: "control-allowed", profile: "both", control: []shot{plainGet, secureGet, get("http://sub.wild.test/", "Host: sub.wild.test")},
			want: `"host":"sub.wild.test"`, shots: shots(plainGet), status: []int{200}, both: true},
		{id: "P03", name: "connect-not-listed", profile: "both", control: controls, want: fromAllowed,
			shots: shots(forms("denied.test")...), status: []int{403}, reached: `127\.0\.1\.2`},
		{id: "P04", name: "deny-wins", profile: "both", control: []shot{get("http://sub.wild.test/", "Host: sub.wild.test")}, want: fromAllowed,
			shots: shots(forms("denied.wild.test")...), status: []int{403}, reached: `127\.0\.1\.2`},
		{id: "P06", name: "wildcard-apex", profile: "both", control: []shot{get("http://sub.wild.test/", "Host: sub.wild.test")}, want: fromAllowed,
			shots: shots(forms("wild.test")...), status: []int{403}, reached: `127\.0\.1\.2`},
		{id: "P08", name: "prefix-host", profile: "both", control: controls, want: fromAllowed,
			shots: shots(append(append(forms("allowed.test.evil.test"), forms("evilallowed.test")...),
				get("http://allowed.test.evil.test/", "Host: allowed.test"))...), status: []int{403}, reached: `127\.0\.1\.2`},
		{id: "P09", name: "trailing-dot-allowed", profile: "both", control: controls, want: fromAllowed,
			shots:  shots(get("http://allowed.test./", "Host: allowed.test."), get("http://ALLOWED.test/", "Host: allowed.TEST")),
			status: []int{200}, reached: `allowed\.test\.|ALLOWED|TEST`, both: true},
		{id: "P11", name: "nul-byte", profile: "both", control: controls, want: fromAllowed,
			shots: shots(through("denied.test\x00.wild.test:443"), get("http://denied.test\x00.wild.test/", "Host: x"),
				get("http://denied.test%00.wild.test/", "Host: x")), status: []int{400}, reached: `127\.0\.1\.2`},
		{id: "P13", name: "userinfo", profile: "both", control: controls, want: fromAllowed,
			shots: shots(get("http://allowed.test@denied.test/", "Host: allowed.test"), get("http://allowed.test:80@denied.test/", "Host: x"),
				get("http://allowed.test@allowed.test/", "Host: allowed.test"), get("http://@allowed.test/", "Host: allowed.test"),
				through("allowed.test@denied.test:443"), through("allowed.test:443@denied.test:443")), status: []int{400}, reached: `127\.0\.1\.2|"method"`},
		{id: "P14", name: "userinfo-becomes-authorization", profile: "both", control: controls, want: fromAllowed,
			shots: shots(get("http://user:secret@allowed.test/", "Host: allowed.test")), status: []int{400}, reached: `Authorization`},
		{id: "P16", name: "ip-literal", profile: "both", control: controls, want: fromAllowed,
			shots:  shots(get("http://127.0.1.1/", "Host: allowed.test"), through("127.0.1.1:443"), get("http://[::ffff:127.0.1.1]/", "Host: allowed.test")),
			status: []int{403}, reached: `"ip"`},
		{id: "P18", name: "localhost-names", profile: "both", control: controls, want: fromAllowed,
			shots: func(*rig) []shot {
				var list []shot
				for _, h := range []string{"localhost", "localhost.", "ip6-localhost", "a.localhost"} {
					list = append(list, get("http://"+h+":14001/", "Host: x"), through(h+":443"))
				}
				return list
			}, status: []int{403}, reached: `"ip"`, answered: `BACKEND|200 OK`},
		{id: "P19", name: "idn-homograph", profile: "both", control: controls, want: fromAllowed,
			shots: shots(get("http://аllowed.test/", "Host: x"), get("http://ａllowed.test/", "Host: x"), get("http://allowed。test/", "Host: x"),
				through("ａllowed.test:443"), get("http://xn--lowed-6ua5c.test/", "Host: x")), status: []int{400, 403}, reached: `"method"`},
	}
}

// addressAttacks ask for hosts that are allowed, at addresses and ports that are not.
func addressAttacks() []attack {
	controls := []shot{plainGet, secureGet}
	return []attack{
		{id: "P21", name: "private-resolution", profile: "both", control: append(controls, get("http://mixed.test/", "Host: mixed.test")), want: `"host":"mixed.test"`,
			shots: shots(append(forms("internal.test"), get("http://own.test/", "Host: own.test"))...), status: []int{403}, reached: `127\.0\.1\.9`},
		{id: "P21", name: "rebind", profile: "both", control: controls, want: fromAllowed,
			shots: func(*rig) []shot {
				var list []shot
				for range 3 {
					list = append(list, get("http://rebind.test/", "Host: rebind.test"), get("http://rebind.test/", "Host: rebind.test"),
						shot{tls: "rebind.test", line: "GET / HTTP/1.1", headers: []string{"Host: rebind.test"}})
				}
				return list
			}, status: []int{200, 403}, reached: `127\.0\.1\.9`, both: true},
		{id: "P23", name: "mapped-and-zero", profile: "both", control: controls, want: fromAllowed,
			shots:  shots(append(append(forms("mapped.test"), forms("zero.test")...), get("http://mapped.test/", "Host: x"), get("http://zero.test/", "Host: x"))...),
			status: []int{403}, reached: `127\.0\.1\.9`},
		{id: "P24", name: "ports", profile: "both", control: controls, want: fromAllowed,
			shots: shots(shot{connect: "allowed.test:22", raw: "x"}, through("allowed.test:8443"),
				get("http://allowed.test:22/", "Host: allowed.test:22"), get("http://allowed.test:8443/", "Host: allowed.test")), status: []int{403}, reached: `"port":"(22|8443)"`},
		{id: "P26", name: "port-spellings", profile: "both", control: controls, want: fromAllowed,
			shots: func(*rig) []shot {
				var list []shot
				for _, p := range []string{"0443", "+443", "443x", "65979", "-1", "0", "", "443,80", "443 ", "4e2"} {
					list = append(list, through("allowed.test:"+p), get("http://allowed.test:"+p+"/", "Host: allowed.test"))
				}
				return list[:]
			}, status: []int{400}, reached: `"method"`},
	}
}
