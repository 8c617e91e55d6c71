package storm_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/agent/storm/legal"
)

// planKey is the header by which a request finds its plan in the script.
const planKey = "X-Storm-Plan"

// server is the model server of a storm. The first part of a path names the conversation.
type server struct {
	t    *testing.T
	url  string
	dir  string // of the requests
	fake *fakewire.Server
	seed uint64

	mu     sync.Mutex
	plans  map[string]*plan
	talks  map[string]*heard
	struck map[string]int // how often each fault came
	wrong  int
}

// heard is what the server heard from one conversation.
type heard struct {
	random *rand.Rand
	bodies []string // files that hold the requests, in order
	texts  []string // of the last request
	calm   bool     // no more faults
	models map[string]int
}

func newServer(t *testing.T, seed uint64) *server {
	s := &server{t: t, seed: seed, dir: t.TempDir(), plans: map[string]*plan{}, talks: map[string]*heard{}, struck: map[string]int{}}
	s.fake = fakewire.New(t, func(r fakewire.Request) fakewire.Reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.plans[r.Header.Get(planKey)].reply
	})
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// of gives what was heard from a conversation. mu is held.
func (s *server) of(talk string) *heard {
	h := s.talks[talk]
	if h == nil {
		h = &heard{random: newRandom(s.seed, talk), models: map[string]int{}}
		s.talks[talk] = h
	}
	return h
}

// newRandom gives the random numbers of a name in a storm.
func newRandom(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func (s *server) calm(talk string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(talk).calm = true
}

func (s *server) heard(talk string) heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.of(talk)
}

// complain fails the test; a storm that goes wrong goes wrong often.
func (s *server) complain(format string, args ...any) {
	s.mu.Lock()
	s.wrong++
	n := s.wrong
	s.mu.Unlock()
	if n <= 10 {
		s.t.Errorf(format, args...)
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client was killed
	}
	talk, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	said, err := legal.Check(legal.Request{Path: r.URL.Path, Header: r.Header, Body: body})
	if err != nil {
		s.complain("%s: an illegal request to %s: %v\n%s", talk, r.URL.Path, err, clip(body))
	}
	if err := fakewire.Check(r.URL.Path, body); err != nil {
		s.complain("%s: a request to %s that the server refuses: %v\n%s", talk, r.URL.Path, err, clip(body))
	}
	names := letters(said.Texts)
	for i, name := range names {
		if strings.Contains(" "+strings.Join(names[:i], " ")+" ", " "+name+" ") {
			s.complain("%s: message %s comes twice in a request: %q", talk, name, names)
		}
	}
	s.mu.Lock()
	h := s.of(talk)
	h.models[said.Format]++
	h.texts = names
	kept := filepath.Join(s.dir, fmt.Sprint(talk, "-", len(h.bodies)))
	h.bodies = append(h.bodies, kept)
	p := &plan{fault: "none", reply: fakewire.Reply{Text: "It is calm."}}
	if !h.calm {
		p = planFor(h.random, said.Format, rounds(body))
	}
	s.struck[p.fault]++
	key := strconv.Itoa(len(s.plans))
	s.plans[key] = p
	s.mu.Unlock()
	if err := os.WriteFile(kept, body, 0o600); err != nil {
		s.complain("%v", err)
	}
	if p.status != 0 {
		if p.media != "" {
			w.Header().Set("Content-Type", p.media)
		}
		w.WriteHeader(p.status)
		_, _ = io.WriteString(w, p.page) // the client may be gone
		return
	}
	r.Header.Set(planKey, key)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.fake.ServeHTTP(&mangler{ResponseWriter: w, plan: p}, r)
}

var callNonce = regexp.MustCompile(`"n\\?":\\?"n[0-9a-f]`)

// rounds guesses how many rounds of calls there were since the last message of the person, whatever
// the format.
func rounds(body []byte) int {
	at := bytes.LastIndex(body, []byte("[["))
	return len(callNonce.FindAll(body[max(at, 0):], -1)) / 2
}

var letterName = regexp.MustCompile(`\[\[(\w+)\]\]`)

// letters finds the names of the person's messages in texts.
func letters(texts []string) (names []string) {
	for _, t := range texts {
		for _, m := range letterName.FindAllStringSubmatch(t, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// clipped is how much of a request a complaint shows, from its end.
const clipped = 4000

func clip(b []byte) []byte {
	if len(b) > clipped {
		return append([]byte("... "), b[len(b)-clipped:]...)
	}
	return b
}

// mangler spoils a response as its plan says.
type mangler struct {
	http.ResponseWriter
	plan   *plan
	writes int
}

func (m *mangler) Unwrap() http.ResponseWriter { return m.ResponseWriter }

func (m *mangler) WriteHeader(code int) {
	if m.plan.media != "" {
		m.Header().Set("Content-Type", m.plan.media)
	}
	m.ResponseWriter.WriteHeader(code)
}

func (m *mangler) Write(p []byte) (int, error) {
	m.writes++
	out := bytes.ReplaceAll(p, []byte(`"`+missing+`"`), []byte(`""`))
	if m.writes == m.plan.garble && len(out) > 12 {
		out = append(bytes.Clone(out[:len(out)/2]), "\n\n"...)
	}
	if m.plan.junk && m.writes%2 == 0 {
		out = append([]byte("event: unheard-of\ndata: {\"type\":\"unheard.of\",\"x\":[1]}\n\n"), out...)
	}
	if _, err := m.ResponseWriter.Write(out); err != nil {
		return 0, fmt.Errorf("write: %w", err)
	}
	return len(p), nil
}
