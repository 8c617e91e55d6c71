package serve

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"
)

func TestGuessingIsSlowedDown(t *testing.T) {
	f := start(t, func(o *ListenOptions) { o.Auth = Auth{Token: "chosen-by-a-person"} })
	now := time.Now()
	f.now = func() time.Time { return now }
	ask := func(token string) int {
		return f.send(t, "GET /healthz HTTP/1.1\nHost: localhost:{port}\nAuthorization: Bearer "+token).StatusCode
	}
	for range limitBurst {
		if code := ask("wrong"); code != http.StatusUnauthorized {
			t.Fatalf("a wrong token: %d", code)
		}
	}
	if code := ask("{token}"); code != http.StatusTooManyRequests {
		t.Errorf("after too many: %d", code)
	}
	now = now.Add(limitRefill)
	if code := ask("{token}"); code != http.StatusOK {
		t.Errorf("after a pause: %d", code)
	}
}

func TestWrongTokensLockNobodyOutWhoHasAGeneratedOne(t *testing.T) {
	f := start(t, nil)
	ask := func(token string) int {
		return f.send(t, "GET /healthz HTTP/1.1\nHost: localhost:{port}\nAuthorization: Bearer "+token).StatusCode
	}
	for range 3 * limitBurst {
		if code := ask("wrong"); code != http.StatusUnauthorized {
			t.Fatalf("a wrong token: %d", code)
		}
	}
	if code := ask("{token}"); code != http.StatusOK {
		t.Errorf("the right token after many wrong ones: %d", code)
	}
}

func TestTheLimitForgets(t *testing.T) {
	now := time.Now()
	l := newLimit(func() time.Time { return now })
	for i := range 3 * limitTracked {
		l.note(fmt.Sprint(i))
	}
	if len(l.bad) > limitTracked {
		t.Errorf("%d addresses are remembered", len(l.bad))
	}
}

func TestTokensAreChosenInOrder(t *testing.T) {
	for _, c := range []struct {
		none      bool
		flag, env string
		want      Auth
	}{
		{true, "flag", "env", Auth{None: true}},
		{false, "flag", "env", Auth{Token: "flag"}},
		{false, "", "env", Auth{Token: "env"}},
	} {
		if got, err := ResolveAuth(c.none, c.flag, c.env); err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	a, _ := ResolveAuth(false, "", "")
	b, _ := ResolveAuth(false, "", "")
	if !a.Generated || a.Token == b.Token {
		t.Errorf("generated %+v and %+v", a, b)
	}
	if _, err := ResolveAuth(false, "has space", ""); !errors.Is(err, ErrBadToken) {
		t.Errorf("a token with a space: %v", err)
	}
	if (Auth{}).accepts("") {
		t.Error("an empty token was accepted")
	}
}
