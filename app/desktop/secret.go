package desktop

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"sync"
)

// secret is what the window's own page proves itself with. Wails lets every frame of the web view
// call what is bound, so each call carries it. A new load of the page gets a new one.
type secret struct {
	mu    sync.Mutex
	value string
}

// renew makes a secret of 256 bits; the one before counts no more.
func (s *secret) renew() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value = hex.EncodeToString(b[:])
	return s.value
}

// is reports whether given is the secret of the page that was loaded last.
func (s *secret) is(given string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value != "" && subtle.ConstantTimeCompare([]byte(s.value), []byte(given)) == 1
}
