package desktop

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, ownOrigin+path, nil))
	return w
}

func TestOwnPageHasANewSecretOnEachLoadAndAStrictPolicy(t *testing.T) {
	p := ownPage{&secret{}}
	find := regexp.MustCompile(`name="carrel-secret" content="([0-9a-f]{64})"`)
	var seen []string
	for range 2 {
		w := get(t, p, "/")
		m := find.FindStringSubmatch(w.Body.String())
		if m == nil || slices.Contains(seen, m[1]) || !p.secret.is(m[1]) {
			t.Fatalf("secrets %q then %q", seen, m)
		}
		seen = append(seen, m[1])
		if policy := w.Header().Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || !strings.Contains(w.Body.String(), policy) {
			t.Errorf("policy %q", policy)
		}
	}
	if p.secret.is(seen[0]) {
		t.Error("an old load's secret still counts")
	}
	if (&secret{}).is("") {
		t.Error("before the first load the empty secret counts")
	}
}

func TestOwnPageServesNothingElse(t *testing.T) {
	p := ownPage{&secret{}}
	for path, want := range map[string]int{"/page.js": 200, "/page.css": 200, "/favicon.ico": 404, "/page/index.html": 404, "/../doc.go": 404} {
		if w := get(t, p, path); w.Code != want || strings.Contains(w.Body.String(), "{{") {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestViewStaysAtOurPages(t *testing.T) { // O-DESK-03
	core := "http://127.0.0.1:4711"
	for address, want := range map[string]bool{
		"wails://wails/":                   true,
		core + "/#t=x&host=desktop":        true,
		core:                               true,
		core + "/a/place":                  true,
		"http://127.0.0.1:47110/":          false,
		"http://127.0.0.1:4711@evil.test/": false,
		"http://localhost:4711/":           false,
		"https://example.invalid/":         false,
		"file:///etc/passwd":               false,
		"data:text/html,x":                 false,
		"javascript:alert(1)":              false,
		"about:blank":                      false,
		"wails://wails.evil/":              false,
	} {
		if got := stays(address, core); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if stays("http://127.0.0.1/", "") {
		t.Error("without a core the view goes elsewhere")
	}
}

func TestOnlyWebAndMailAddressesLeave(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.invalid/a?b": true, "http://x": true, "mailto:a@example.invalid": true,
		"file:///etc/passwd": false, "javascript:alert(1)": false, "data:text/html,x": false, "http:": false,
		"ssh://x": false, "": false, "::": false, "mailto:": false,
	} {
		if got := opens(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

func TestProxyNeverSeesTheLoopback(t *testing.T) {
	for list, want := range map[string]string{
		"":                   "127.0.0.1,localhost,::1",
		"example.invalid":    "example.invalid,127.0.0.1,localhost,::1",
		"localhost, .corp":   "localhost,.corp,127.0.0.1,::1",
		"*":                  "*",
		" 127.0.0.1 , a,::1": "127.0.0.1,a,::1,localhost",
	} {
		if got := exempt(list); got != want {
			t.Errorf("%q became %q", list, got)
		}
	}
	if got := withoutProxy(func(string) string { return "*" }); len(got) != 0 {
		t.Errorf("changed %v", got)
	}
}

func TestRenderingIsThePersonsChoiceBeforeOurs(t *testing.T) { // O-DESK-01
	blank := memory{Blank: 1}
	safe := memory{}.stayedBlank()
	for _, c := range []struct {
		env, setting string
		m            memory
		how          rendering
		asked        bool
	}{
		{"", "", memory{}, drawAuto, false},
		{"", "", blank, drawSafe, false},
		{"", "", safe, drawSafe, false},
		{"always", "never", safe, drawAlways, true},
		{"", "never", memory{}, drawNever, true},
		{"auto", "never", safe, drawAuto, false},
		{"quick", "", memory{}, drawAuto, false},
	} {
		got := chooseRendering(c.env, c.setting, c.m, true)
		if got.how != c.how || got.asked != c.asked {
			t.Errorf("%+v: %+v", c, got)
		}
		if (got.how == drawSafe || c.env == "quick") && got.hint == "" {
			t.Errorf("%+v: no hint", c)
		}
	}
	if m := chooseRendering("auto", "", safe, true).wants(safe); m.Rendering != "" {
		t.Errorf("after the person asked: %+v", m)
	}
}

// O-DATA-05: a CPU that plays a GPU takes several times as long to draw what waits.
func TestWindowWithoutAGPUDrawsPlainly(t *testing.T) {
	for _, c := range []struct {
		env string
		m   memory
		how rendering
	}{
		{"", memory{}, drawNever}, {"auto", memory{}, drawNever}, {"always", memory{}, drawAlways},
		{"", memory{Blank: 1}, drawSafe}, {"", memory{}.stayedBlank(), drawSafe}, {"auto", memory{}.stayedBlank(), drawNever},
	} {
		got := chooseRendering(c.env, "", c.m, false)
		if got.how != c.how || got.asked != (c.env == "always") {
			t.Errorf("%+v: %+v", c, got)
		}
		if m := got.wants(c.m); (m.Rendering != "") != (c.m.Rendering != "" && c.env == "") {
			t.Errorf("%+v: remembers %+v", c, m)
		}
	}
}

func TestSafeDrawingBecomesAHabitOnlyWhenItHelpsAgain(t *testing.T) {
	var m memory
	life := func(drew bool) rendering {
		how := chooseRendering("", "", m, true).how
		m = m.began()
		if drew {
			m = m.drew(how)
		}
		return how
	}
	for i, want := range []rendering{drawAuto, drawSafe, drawAuto, drawSafe, drawSafe, drawSafe} {
		if got := life(i%2 == 1 || i > 3); got != want {
			t.Errorf("life %d draws %s, not %s; %+v", i, got, want, m)
		}
	}
}

func TestWindowRemembersItsPlace(t *testing.T) {
	root := openRoot(t)
	w := &window{root: root, log: discard(), painted: make(chan struct{})}
	at := place{X: 5, Y: 6, Width: 700, Height: 800}
	w.moved(at)
	w.moved(place{X: 0, Y: 0, Width: 1440, Height: 900, Maximised: true})
	w.save()
	m, err := recall(root)
	at.Maximised = true
	if err != nil || m.Place != at {
		t.Fatalf("%+v, %v", m, err)
	}
	if width, height := m.Place.size(); width != 700 || height != 800 {
		t.Errorf("%d x %d", width, height)
	}
	if width, height := (place{Width: 10, Height: 10}).size(); width != minWidth || height != minHeight {
		t.Errorf("%d x %d", width, height)
	}
	if err := os.WriteFile(root.Path(memoryFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := recall(root); err == nil || m != (memory{}) || len(root.Problems()) != 1 {
		t.Errorf("%+v, %v, %v", m, err, root.Problems())
	}
}

func TestWindowThatDrewIsNotWatched(t *testing.T) {
	w := &window{root: openRoot(t), log: discard(), painted: make(chan struct{}), memory: memory{}.began()}
	w.drew()
	w.drew()
	w.watch(t.Context(), time.Hour) // returns, and does not start the window again
	if m, err := recall(w.root); err != nil || m.Blank != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	asked := &window{root: w.root, log: discard(), painted: make(chan struct{}), draw: choice{how: drawNever, asked: true}}
	asked.watch(t.Context(), time.Nanosecond)
	if m, err := recall(w.root); err != nil || m.Rendering != "" {
		t.Errorf("the person's choice was changed: %+v, %v", m, err)
	}
}

func TestViewMayNotLeave(t *testing.T) {
	k := newKeeper(openRoot(t), self(t), "dev", "", &fakeScreen{}, discard())
	screen := &fakeScreen{}
	w := &window{log: discard(), keeper: k, screen: screen}
	if w.mayShow("https://example.invalid/", true) || !w.mayShow(ownOrigin+"/", false) || w.mayShow("file:///etc/passwd", true) {
		t.Error("the view goes anywhere")
	}
	eventually(t, "the address opens outside", func() bool { return screen.opened.Load() == "https://example.invalid/" })
}

func TestVersionsDecideWhoGivesWay(t *testing.T) {
	for _, c := range []struct {
		window, core string
		want         bool
	}{
		{"dev", "dev", false}, {"1.2.0", "1.1.9", true}, {"1.1.0", "1.2.0", false}, {"v1.2.0-3-gabc", "1.2.0", true},
		{"dev", "1.0.0", true}, {"abc", "def", true}, {"1.2", "1.3", true}, {"2.0.0", "10.0.0", false},
	} {
		if got := replaces(c.window, c.core); got != c.want {
			t.Errorf("window %s, core %s: %v", c.window, c.core, got)
		}
	}
}

func TestFoldersAreAbsoluteAndTheRestIsComplainedOf(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found, complaints := folders([]string{".", "file", "none"})
	if real, _ := filepath.EvalSymlinks(dir); len(found) != 1 || found[0] != dir && found[0] != real || len(complaints) != 2 {
		t.Errorf("%q, %q", found, complaints)
	}
}

func TestWindowLogsToAFileThatStaysSmall(t *testing.T) {
	root := openRoot(t)
	for range 2 {
		log, closeLog, err := openLog(root)
		if err != nil {
			t.Fatal(err)
		}
		log.Info(strings.Repeat("x", 1<<20))
		closeLog()
	}
	if info, err := os.Stat(root.Path("logs", "window.log")); err != nil || info.Size() > 1<<20+200 {
		t.Errorf("%+v, %v", info, err)
	}
}
