package core

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/serve"
	"carrel/app/wire"
)

func readyOnce(ready chan struct{}) func(own, served *serve.Listener) {
	return func(_, _ *serve.Listener) { close(ready) }
}

func TestCallsAndEventsGoThroughTheCore(t *testing.T) {
	s := startHere(t, nil)
	events := make(chan wire.Event, 1)
	c := s.dial(t, wire.ClientOptions{Events: func(e wire.Event) { events <- e }})
	var p app.Project
	if err := c.Call(t.Context(), "projects.add", app.AddProject{Path: "/x"}, &p); err != nil || p.ID != "p" {
		t.Errorf("%+v, %v", p, err)
	}
	if e := receive(t, events); e.Name != "project.changed" {
		t.Errorf("event %s", e.Name)
	}
}

func TestOnlyOneCoreRunsOnARoot(t *testing.T) {
	s := startHere(t, nil)
	if err := Run(t.Context(), Options{Root: s.root}); !errors.Is(err, ErrRunning) {
		t.Errorf("a second core: %v", err)
	}
}

func TestAnIdleCoreEndsButNotWhileItIsNeeded(t *testing.T) {
	s := startHere(t, func(o *Options) {
		o.IdleAfter = 30 * time.Millisecond
		open := o.Open
		o.Open = func(ctx context.Context, log *slog.Logger, journal app.Journal) (App, error) {
			a, err := open(ctx, log, journal)
			a.(*fakeApp).busy.Store(true) // until the host is there
			return a, err
		}
	})
	states := make(chan bool, 8)
	c := s.dial(t, wire.ClientOptions{State: func(on bool) { states <- on }})
	receive(t, states)
	s.app.busy.Store(false)
	notYet := func(why string) {
		t.Helper()
		select {
		case err := <-s.ended:
			t.Fatalf("ended while %s: %v", why, err)
		case <-time.After(150 * time.Millisecond): // five idle times
		}
	}
	notYet("a host is attached")
	s.app.busy.Store(true)
	_ = c.Close()
	notYet("a turn runs")
	held, err := s.found.Listen(t.Context(), attach.ListenRequest{Token: "0123456789abcdef"})
	if err != nil {
		t.Fatal(err)
	}
	s.app.busy.Store(false)
	notYet("a listener is held")
	_ = held.Close()
	if err := receive(t, s.ended); err != nil {
		t.Errorf("ended with %v", err)
	}
	if !s.app.closed.Load() {
		t.Error("the application was not closed")
	}
	if _, err := os.Stat(s.root.Path("run", "core.sock")); err == nil {
		t.Error("the socket is still there")
	}
}

func TestStopIsRefusedWhileAnAgentWorks(t *testing.T) {
	s := startHere(t, nil)
	s.app.busy.Store(true)
	var refused *app.Error
	if err := s.found.Stop(t.Context()); !errors.As(err, &refused) || refused.Code != "busy" {
		t.Errorf("stop: %v", err)
	}
	s.app.busy.Store(false)
	if err := s.found.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := receive(t, s.ended); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestASecondStartHandsItsFoldersToTheRunningWindow(t *testing.T) {
	s := startHere(t, nil)
	folder := t.TempDir()
	opened, err := s.found.Open(t.Context(), []string{"--flag", folder, "relative", folder + "/none"})
	if err != nil || opened.Window {
		t.Errorf("without a window: %+v, %v", opened, err)
	}
	if strings.Join(s.app.dropped, "|") != folder {
		t.Errorf("dropped %v", s.app.dropped)
	}
	raised := make(chan struct{}, 1)
	s.dial(t, wire.ClientOptions{Role: wire.Desktop, Asks: map[string]func(context.Context, json.RawMessage) (any, error){
		wire.AskRaise: func(context.Context, json.RawMessage) (any, error) { raised <- struct{}{}; return nil, nil },
	}})
	if opened, err := s.found.Open(t.Context(), nil); err != nil || !opened.Window {
		t.Errorf("with a window: %+v, %v", opened, err)
	}
	receive(t, raised)
}

func TestServeUsesARunningCore(t *testing.T) {
	s := startHere(t, nil)
	held, err := s.found.Listen(t.Context(), attach.ListenRequest{NoAuth: true, AllowHosts: []string{"carrel.example"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(held.Warnings) != 1 || strings.Contains(held.Link, "#") {
		t.Errorf("%+v", held.Listening)
	}
	open := func(ctx context.Context) (attach.Core, error) {
		return attach.Core{Hello: attach.Hello{URL: held.URL}}, nil
	}
	c := dial(t, wire.ClientOptions{}, open)
	if err := c.Call(t.Context(), "projects.add", app.AddProject{Path: "/x"}, nil); err != nil {
		t.Error(err)
	}
	if err := s.found.Stop(t.Context()); err == nil {
		t.Error("stopped under a server's feet")
	}
	_ = held.Close()
	eventually(t, "the listener's end", func() bool {
		_, err := wire.Dial(t.Context(), wire.ClientOptions{Role: wire.CLI, Find: func(context.Context) (wire.Address, error) {
			return wire.Address{URL: held.URL}, nil
		}})
		return err != nil
	})
}

func TestServeInTheForegroundListensToo(t *testing.T) {
	links := make(chan string, 1)
	s := startHere(t, func(o *Options) {
		o.IdleAfter = time.Millisecond
		o.Serve = &serve.ListenOptions{Auth: serve.Auth{Token: "0123456789abcdef"}}
		ready := o.Ready
		o.Ready = func(own, served *serve.Listener) { links <- served.Link(); ready(own, served) }
	})
	if link := receive(t, links); !strings.HasSuffix(link, "/#t=0123456789abcdef") || strings.HasPrefix(link, s.found.URL) {
		t.Errorf("link %s", link)
	}
	if err := s.found.Stop(t.Context()); err == nil {
		t.Error("stopped under a server's feet")
	}
}
