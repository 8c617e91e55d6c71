package main

import (
	"context"
	"os"
)

const hello = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"

// measureStart starts the smallest command beside the smallest program. Most of what it costs is
// the initialisation of packages.
func measureStart(ctx context.Context, b *bench) ([]line, error) {
	carrel, err := b.carrel(ctx)
	if err != nil {
		return nil, err
	}
	dir := b.path("hello")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"main.go": hello, "go.mod": "module hello\n\ngo 1.26\n"} {
		if err := os.WriteFile(b.path("hello", name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	small := b.path("bin", "hello")
	if err := b.build(ctx, dir, small); err != nil {
		return nil, err
	}
	base := command{argv: []string{small}, dir: b.dir, env: b.env()}
	ours := command{argv: []string{carrel, "--version"}, dir: b.dir, env: b.env("CARREL_ROOT=" + b.path("start-root"))}
	p, err := alternate(ctx, 100, base.run, ours.run)
	if err != nil {
		return nil, err
	}
	return []line{p.ratio("starting carrel --version; a hello-world Go program", 4)}, nil
}
