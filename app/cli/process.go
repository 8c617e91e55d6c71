package cli

import "os"

// Process is what this process was started with.
func Process() IO {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Exe: exe, Exit: os.Exit}
}
