package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/core"
	"carrel/app/serve"
	"carrel/frontend"
	"carrel/store"
	"carrel/workspaces/compat"
	"carrel/workspaces/runtime"
)

const serveHelp = `Serve shows Carrel in a browser, at the address that it prints.

The address carries the access token after the #, where browsers keep it to themselves. The token is
--auth-token, else CARREL_SERVER_AUTH_TOKEN, else a new one for each start. Only names that you list
with --allow-host reach the server beside its own address.

If Carrel runs already, its core serves the address until you press Ctrl-C; nothing that works stops.`

type serveOptions struct {
	listen     serve.ListenOptions
	token      string
	noAuth     bool
	printToken bool
	projects   []string
	json       bool
}

// serving is the one document of serve --json.
type serving struct {
	Type     string   `json:"type"` // serving
	URL      string   `json:"url"`
	Link     string   `json:"link,omitempty"` // with the token, where that may be shown
	Warnings []string `json:"warnings"`
}

func serveCommand(io IO) *cobra.Command {
	var o serveOptions
	c := &cobra.Command{Use: "serve", Aliases: []string{"server"}, Short: "Show Carrel in a browser", Long: serveHelp, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.json = isJSON(cmd)
			return o.run(cmd.Context(), io)
		}}
	f := c.Flags()
	f.StringVar(&o.listen.Host, "host", "localhost", "address to listen on")
	f.IntVar(&o.listen.Port, "port", 3000, "port to listen on; 0 takes a free one")
	f.StringArrayVar(&o.listen.AllowHosts, "allow-host", nil, "one more host name that browsers may use for this server")
	f.StringVar(&o.token, "auth-token", "", "access token (other users of this machine can see it in the list of processes; prefer CARREL_SERVER_AUTH_TOKEN)")
	f.BoolVar(&o.noAuth, "no-auth", false, "let everyone in who can reach the address")
	f.BoolVar(&o.printToken, "print-auth-token", false, "print a chosen token too")
	f.StringArrayVar(&o.projects, "add-project", nil, "add a folder as a project")
	return c
}

func (o serveOptions) run(ctx context.Context, io IO) error {
	auth, err := serve.ResolveAuth(o.noAuth, o.token, compat.Lookup(io.Environ, "SERVER_AUTH_TOKEN"))
	if errors.Is(err, serve.ErrBadToken) {
		return usage("%w", err)
	}
	if err != nil {
		return err
	}
	o.listen.Auth = auth
	if o.listen.Port < 0 || o.listen.Port > 65535 {
		return usage("--port must be 0 to 65535, not %d", o.listen.Port)
	}
	root, err := store.Open("")
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if root.SessionOf(runtime.StartedFor(io.Environ)) != "" {
		return attach.ErrAgent
	}
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // with nohup it outlives its terminal
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, ends...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends at once
	for {
		running, err := attach.Find(ctx, root)
		if err == nil {
			return o.through(ctx, io, root, running)
		}
		if !errors.Is(err, attach.ErrNoCore) {
			return err
		}
		err = core.Run(ctx, coreOptions(io, root, func(c *core.Options) {
			c.Serve = &o.listen
			c.Log = slog.New(slog.NewTextHandler(io.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
			c.Ready = func(_, served *serve.Listener) {
				o.announce(io, served.URL(), served.Link(), served.Warnings())
				o.addProjects(ctx, io, root)
			}
		}))
		if !errors.Is(err, core.ErrRunning) {
			return err
		}
	}
}

// through has a core that runs already serve the address.
func (o serveOptions) through(ctx context.Context, io IO, root *store.Root, running attach.Core) error {
	a := o.listen.Auth
	held, err := running.Listen(ctx, attach.ListenRequest{Host: o.listen.Host, Port: o.listen.Port, AllowHosts: o.listen.AllowHosts,
		Token: a.Token, Generated: a.Generated, NoAuth: a.None})
	if err != nil {
		return err
	}
	defer func() { _ = held.Close() }()
	o.announce(io, held.URL, held.Link, held.Warnings)
	o.addProjects(ctx, io, root)
	select {
	case <-ctx.Done():
		return nil
	case <-held.Gone():
		return &app.Error{Code: "core_ended", Message: "The running Carrel has ended, and the address with it. Start carrel serve again."}
	}
}

// announce prints the address. A token that the person chose is known to them and stays out of the
// terminal unless asked for.
func (o serveOptions) announce(io IO, url, link string, warnings []string) {
	for _, w := range warnings {
		_, _ = fmt.Fprintln(io.Err, "carrel: warning:", plain(w))
	}
	out := serving{Type: "serving", URL: url, Warnings: append([]string{}, warnings...)}
	if o.listen.Auth.Generated || o.printToken {
		out.Link, url = link, link
	}
	if o.json {
		_ = printJSON(io.Out, out) // nobody listens any more, and the server goes on
		return
	}
	_, _ = fmt.Fprintf(io.Out, "Carrel is at %s\n", url)
	_, _ = fmt.Fprintln(io.Err, "carrel: carrel doctor tells what confines commands of agents; press Ctrl-C to stop")
}

func (o serveOptions) addProjects(ctx context.Context, io IO, root *store.Root) {
	if len(o.projects) == 0 {
		return
	}
	go func() { // the core answers once Ready has returned
		client, err := dialHost(ctx, root)
		if err != nil {
			_, _ = fmt.Fprintln(io.Err, "carrel: add projects:", plain(err.Error()))
			return
		}
		defer client.close()
		for _, path := range o.projects {
			if err := client.Call(ctx, "projects.add", app.AddProject{Path: canonical(path)}, nil); err != nil {
				_, _ = fmt.Fprintf(io.Err, "carrel: add project %s: %s\n", line(path), plain(err.Error()))
			}
		}
	}()
}

// coreOptions are those of any core that this binary runs.
func coreOptions(io IO, root *store.Root, more func(*core.Options)) core.Options {
	o := core.Options{Root: root, Version: app.Version(), Page: page(),
		Open: func(_ context.Context, log *slog.Logger, journal app.Journal) (core.App, error) {
			return app.New(app.Options{Root: root, Environ: io.Environ, ReaperArgv: reaper(io), Logger: log, Journal: journal})
		}}
	more(&o)
	return o
}

func page() fs.FS { return frontend.Dist() }

func reaper(io IO) []string { return []string{io.Exe, "helper", "reap"} }
