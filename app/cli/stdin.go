package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	maxInput = 1 << 20
	// pipeGrace is how long a pipe beside a message on the command line may take to end. A parent that
	// never closes it must not hang the run.
	pipeGrace = 250 * time.Millisecond
)

// readMessage makes the message of the arguments and of standard input.
func readMessage(in *os.File, args []string) (string, error) {
	message := strings.TrimSpace(strings.Join(args, " "))
	kind := stdinKind(in)
	switch {
	case message == "" && kind == fromNowhere:
		return "", usage("give a message, as an argument or on standard input")
	case message == "":
		text, err := readAll(in)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(text) == "" {
			return "", usage("give a message, as an argument or on standard input")
		}
		return text, nil
	case kind == fromFile:
		text, err := readAll(in)
		return join(message, text), err
	case kind == fromPipe:
		return join(message, readQuickly(in)), nil
	}
	return message, nil
}

func join(message, context string) string {
	if strings.TrimSpace(context) == "" {
		return message
	}
	return message + "\n\n" + context
}

// inputKind says what standard input is.
type inputKind int

const (
	fromNowhere inputKind = iota // closed, a terminal or the null device
	fromFile
	fromPipe
)

func stdinKind(in *os.File) inputKind {
	if in == nil {
		return fromNowhere
	}
	info, err := in.Stat()
	if err != nil {
		return fromNowhere
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return fromFile
	case mode&os.ModeCharDevice != 0:
		return fromNowhere
	}
	return fromPipe
}

func readAll(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > maxInput {
		return "", errors.New("standard input holds more than 1 MiB; put it into a file and name the file in the message")
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), nil
}

// readQuickly gives what a pipe holds if it ends soon. The reader that waits for a pipe that never
// ends goes with the process.
func readQuickly(in io.Reader) string {
	got := make(chan string, 1)
	go func() {
		text, err := readAll(in)
		if err != nil {
			text = ""
		}
		got <- text
	}()
	select {
	case text := <-got:
		return text
	case <-time.After(pipeGrace):
		return ""
	}
}
