package core

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/serve"
)

// door is what the core answers on its socket.
type door struct {
	app      App
	web      *serve.Server
	presence *presence
	version  string
	own      *serve.Listener // for this machine's windows and commands
	served   *serve.Listener // of Options.Serve, or nil
}

// open opens the core's listeners and then its socket, so that who finds the socket finds all.
func (d *door) open(ctx context.Context, o Options) (*attach.Server, error) {
	var err error
	if d.own, err = d.web.Listen(ctx, serve.ListenOptions{Auth: serve.Auth{Token: serve.NewToken(), Generated: true}}); err != nil {
		return nil, err
	}
	if o.Serve != nil {
		if d.served, err = d.web.Listen(ctx, *o.Serve); err != nil {
			return nil, err
		}
		d.presence.hold(1)
	}
	return attach.Serve(ctx, o.Root, d, o.Log)
}

// Hello implements attach.Handler.
func (d *door) Hello() attach.Hello {
	d.presence.touch()
	hosts, _ := d.presence.counts()
	return attach.Hello{
		Version: d.version, PID: os.Getpid(), URL: d.own.URL(), Token: d.own.Token(),
		Busy: d.app.Busy(), Hosts: hosts,
	}
}

// Open implements attach.Handler. Folders go the way of folders dropped on the window.
func (d *door) Open(ctx context.Context, args []string) (attach.Opened, error) {
	d.presence.touch()
	api := d.app.API()
	var folders []string
	for _, arg := range args {
		if info, err := os.Stat(arg); filepath.IsAbs(arg) && err == nil && info.IsDir() {
			folders = append(folders, arg)
		}
	}
	if len(folders) > 0 {
		if err := api.Projects.Drop(ctx, app.DropFolders{Paths: folders}); err != nil {
			return attach.Opened{}, err
		}
	}
	err := api.System.Raise(ctx)
	var refused *app.Error
	if err != nil && !errors.As(err, &refused) {
		return attach.Opened{}, err
	}
	return attach.Opened{Window: err == nil}, nil
}

// Listen implements attach.Handler.
func (d *door) Listen(ctx context.Context, r attach.ListenRequest) (attach.Listening, func(), error) {
	l, err := d.web.Listen(ctx, serve.ListenOptions{
		Host: r.Host, Port: r.Port, AllowHosts: r.AllowHosts,
		Auth: serve.Auth{None: r.NoAuth, Token: r.Token, Generated: r.Generated},
	})
	if err != nil {
		return attach.Listening{}, nil, err
	}
	d.presence.hold(1)
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = l.Close(ctx) // cut off after a second
		d.presence.hold(-1)
	}
	return attach.Listening{URL: l.URL(), Link: l.Link(), Warnings: l.Warnings()}, stop, nil
}

// Stop implements attach.Handler.
func (d *door) Stop() error {
	_, held := d.presence.counts()
	switch {
	case d.app.Busy():
		return &app.Error{Code: "busy", Message: "An agent is working. Interrupt it or wait until it is done."}
	case held > 0:
		return &app.Error{Code: "busy", Message: "`carrel serve` uses this core. End it first."}
	}
	d.presence.end("asked to through its socket")
	return nil
}
