//go:build !desktop

// Carrel lets one person run many coding agents in parallel, each at its own desk.
package main

import (
	"context"
	"os"

	"carrel/app/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], cli.Process()))
}
