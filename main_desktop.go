//go:build desktop

// Carrel's window: it shows the page of the core, which is the other binary, carrel.
package main

import (
	"os"

	"carrel/app/desktop"
)

func main() {
	os.Exit(desktop.Run(os.Args[1:]))
}
