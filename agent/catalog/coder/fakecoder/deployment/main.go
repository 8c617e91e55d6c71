// Deployment runs a fake Coder deployment for tests that are no Go: it prints its address, and takes its
// state as one line of JSON each on standard input, which it answers with "ok". It ends with its input.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"carrel/agent/catalog/coder/fakecoder"
	"carrel/agent/model/fakewire"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	wire, err := fakewire.Start("127.0.0.1:0", fakewire.Steps(fakewire.Reply{Text: "Hello from the gateway."}))
	if err != nil {
		return err
	}
	defer func() { _ = wire.Close() }() // the process ends
	d, end := fakecoder.Start(wire)
	defer end()
	fmt.Println(d.URL)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var next fakecoder.State
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			return fmt.Errorf("read state: %w", err)
		}
		d.Set(func(s *fakecoder.State) { *s = next })
		fmt.Println("ok")
	}
	return lines.Err()
}
