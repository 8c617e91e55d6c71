//go:build linux

// The runtime would keep a file of its control group open to follow changes of the processor limit.
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command carrel-sandbox is what Carrel starts to confine commands. It is embedded in carrel and
// of no use alone: it speaks over a socket that its parent hands it.
package main

import (
	"context"
	"fmt"
	"os"

	"carrel/sandbox/jail"
	"carrel/sandbox/netproxy/connect"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, jail.Program+":", err)
		os.Exit(125)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("start: this program is started by carrel")
	}
	switch args[0] {
	case jail.RoleSupervisor:
		return jail.Supervise()
	case jail.RoleHelper:
		return jail.Inside()
	}
	if args[0] == "connect" && len(args) == 3 {
		return connect.Pipe(context.Background(), os.Getenv(connect.Variable), args[1], args[2], os.Stdin, os.Stdout)
	}
	return fmt.Errorf("start %q: unknown role", args[0])
}
