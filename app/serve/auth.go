package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"
)

// Auth says how a listener knows its hosts.
type Auth struct {
	// None lets in everyone who can reach the listener.
	None bool
	// Token is what a host must show.
	Token string
	// Generated is true for a token that nobody chose and that dies with the listener.
	Generated bool
}

// weakToken is the length in characters below which a chosen token is warned about.
const weakToken = 16

// ErrBadToken says that a chosen token could not travel in an address.
var ErrBadToken = errors.New("an access token may hold only the letters, digits and signs of an address (A-Z a-z 0-9 - . _ ~)")

// ResolveAuth chooses: no authentication when asked, else the flag's token, else the environment's,
// else a new one of 256 bits.
func ResolveAuth(none bool, flag, env string) (Auth, error) {
	if none {
		return Auth{None: true}, nil
	}
	for _, token := range []string{flag, env} {
		if token == "" {
			continue
		}
		if strings.Trim(token, urlSafe) != "" {
			return Auth{}, ErrBadToken
		}
		return Auth{Token: token}, nil
	}
	return Auth{Token: NewToken(), Generated: true}, nil
}

const urlSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

// NewToken returns a fresh token of 256 random bits.
func NewToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// accepts compares in a time that depends on neither token.
func (a Auth) accepts(token string) bool {
	if a.None {
		return true
	}
	want, got := sha256.Sum256([]byte(a.Token)), sha256.Sum256([]byte(token))
	return a.Token != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
