package app

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"time"

	"carrel/agent/catalog/coder"
	"carrel/store"
)

// Bounds of logins that wait: how long for the browser, and how many.
const (
	loginWait = 10 * time.Minute
	maxLogins = 8
	endWait   = 20 * time.Second // to take an old login back
)

// CoderCallback is the path at which a browser comes back to a page's own origin.
const CoderCallback = "/auth/coder/callback"

// coderLogin is a login that waits for the browser.
type coderLogin struct {
	d       coder.Deployment
	login   *coder.Login
	answers <-chan coder.Answer
	feed    chan coder.Answer // behind answers, when the browser comes back to a page's origin; else nil
	cancel  context.CancelFunc
	done    chan struct{} // closed when it is over
	err     error         // to be read after done
}

func (s settings) LoginCoder(ctx context.Context, args LoginCoder) (CoderLogin, error) {
	base, err := coder.Parse(args.URL)
	if err != nil {
		return CoderLogin{}, &Error{Code: "bad_base_url", Message: "The deployment's address must be like https://coder.example.com.", Cause: err}
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), loginWait)
	l := &coderLogin{d: coder.New(base), cancel: cancel, done: make(chan struct{}), feed: make(chan coder.Answer, 1)}
	l.answers = l.feed
	redirect, closing := args.Origin+CoderCallback, func() {}
	if args.Origin == "" {
		back, err := coder.Listen(ctx)
		if err != nil {
			cancel()
			return CoderLogin{}, &Error{Code: "coder", Message: "No address of this machine is free for the browser to come back to.", Cause: err}
		}
		redirect, closing = back.Address, back.Close
		l.answers, l.feed = back.Answers(), nil
	} else if err := checkOrigin(args.Origin); err != nil {
		cancel()
		return CoderLogin{}, err
	}
	run := func() {
		defer closing()
		defer cancel()
		l.err = s.finish(wait, l)
		close(l.done)
	}
	var id string
	if l.login, err = l.d.Begin(ctx, redirect); err == nil {
		id, err = s.app.hold(l, run)
	}
	if err != nil {
		closing()
		cancel()
		return CoderLogin{}, coderError(err)
	}
	return CoderLogin{ID: id, Address: l.login.Address}, nil
}

// hold keeps a login until it is over, lets it run and gives its id.
func (a *App) hold(l *coderLogin, run func()) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return "", errClosing
	}
	for id, old := range a.logins {
		select {
		case <-old.done:
			delete(a.logins, id)
		default:
		}
	}
	if len(a.logins) >= maxLogins {
		return "", &Error{Code: "busy", Message: "Several logins wait already. Finish one in the browser, or wait ten minutes."}
	}
	if a.logins == nil {
		a.logins = map[string]*coderLogin{}
	}
	id := rand.Text()
	a.logins[id] = l
	a.work.Go(run)
	return id, nil
}

// dropLogins ends all that wait.
func (a *App) dropLogins() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.logins {
		l.cancel()
	}
}

// FinishCoder takes what a browser brought back to a page's own origin. It reports whether a login
// waits for it.
func (a *App) FinishCoder(state, code, refused string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.logins {
		if l.feed != nil && subtle.ConstantTimeCompare([]byte(l.login.State), []byte(state)) == 1 {
			select {
			case l.feed <- coder.Answer{State: state, Code: code, Error: refused}:
			default: // one is enough
			}
			return true
		}
	}
	return false
}

// finish waits for the browser, and keeps the login.
func (s settings) finish(ctx context.Context, l *coderLogin) error {
	var a coder.Answer
	for subtle.ConstantTimeCompare([]byte(a.State), []byte(l.login.State)) != 1 { // not one of somebody else's
		select {
		case a = <-l.answers:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return &Error{Code: "cancelled", Message: "The login was given up. Log in again."}
			}
			return &Error{Code: "timeout", Message: "Nobody approved the login in time. Log in again."}
		}
	}
	if a.Code == "" {
		return &Error{Code: "denied", Message: "The login was not approved."}
	}
	t, err := l.d.Finish(ctx, l.login, a.Code)
	if err != nil {
		return coderError(err)
	}
	before, err := s.coderEntry()
	if err != nil {
		return err
	}
	c := l.login.Client
	fields := map[string]any{"baseUrl": l.d.URL, "login": store.CoderLogin{ClientID: c.ID, ClientSecret: c.Secret, ClientAddress: c.Address,
		ClientToken: c.Token, AccessToken: t.Access, RefreshToken: t.Refresh, ExpiresAt: t.Expires.UTC()}}
	if before.BaseURL != l.d.URL { // what is known is of another deployment
		for _, name := range []string{"discoveredProviders", "discoveredModels", "discoveredModelsUnlisted"} {
			fields[name] = nil
		}
	}
	if err := s.setCoder(fields); err != nil {
		return err
	}
	e, err := s.coderEntry()
	if err == nil {
		err = s.discover(ctx, l.d, t.Access, e)
	}
	if err != nil { // the login holds all the same
		s.app.logger.Warn("list the providers of Coder", "err", err)
	}
	s.app.settingsChanged()
	ending, cancel := context.WithTimeout(ctx, endWait)
	defer cancel()
	s.endLogin(ending, before)
	return nil
}

// CancelCoder ends a login that waits; one that is over stays as it is.
func (s settings) CancelCoder(_ context.Context, args ByID) error {
	s.app.mu.Lock()
	defer s.app.mu.Unlock()
	if l := s.app.logins[args.ID]; l != nil {
		l.cancel()
	}
	return nil
}

func (s settings) AwaitCoder(ctx context.Context, args ByID) (CoderState, error) {
	s.app.mu.Lock()
	l := s.app.logins[args.ID]
	s.app.mu.Unlock()
	if l == nil {
		return CoderState{}, &Error{Code: "not_found", Message: "That login is over. Log in again."}
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		return CoderState{}, ctx.Err()
	}
	if l.err != nil {
		return CoderState{}, l.err
	}
	return s.Coder(ctx)
}
