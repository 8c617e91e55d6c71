package app

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"carrel/workspaces/terminal"
)

// TerminalStream are the arguments of the stream "terminal", which shows one terminal.
//
// Both directions carry records: [1 kind][4 length, big endian][payload]. To the host go
//
//	0 output
//	1 screen: [2 columns][2 rows], then what shows it on a terminal that was reset
//	2 size: [2 columns][2 rows], from here on
//	3 end: {"code","killed"}; nothing follows
//
// and from it come
//
//	0 input
//	1 size of the view: [2 columns][2 rows]
//	2 the person turned to this view, so that its size counts
//	3 colours of text, background and cursor: rgb:hh/hh/hh;rgb:hh/hh/hh;rgb:hh/hh/hh
//
// The wire's credit is what the host has shown, so a program runs no faster than that.
type TerminalStream struct {
	ID   string `json:"id"`
	Cols int    `json:"cols"` // 0: leave the size as it is
	Rows int    `json:"rows"`
}

const (
	recordHead    = 5
	maxTyped      = 128 << 10 // bytes of a record from a host
	maxTypedText  = 64 << 10
	promptWait    = 3 * time.Second // for a shell that starts, until it takes pasted text
	terminalInput = 0
	terminalSize  = 1
	terminalLead  = 2
	terminalLooks = 3
)

// ShowTerminal serves a TerminalStream until either side ends it.
func (a *App) ShowTerminal(ctx context.Context, rw io.ReadWriter, args json.RawMessage) error {
	var open TerminalStream
	if err := json.Unmarshal(args, &open); err != nil {
		return &Error{Code: "bad_request", Message: "The arguments of the stream can't be read.", Cause: err}
	}
	o, err := a.terminals.get(open.ID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	view := o.term.Attach(open.Cols, open.Rows)
	defer view.Close()
	go func() {
		defer cancel() // the host closed the stream, or breaks the protocol
		for readTerminalRecord(ctx, rw, view) == nil {
		}
	}()
	for {
		r, err := view.Next(ctx)
		if err != nil { // the terminal was closed, or the host left
			return nil
		}
		if _, err := rw.Write(terminalRecord(r)); err != nil {
			return nil
		}
	}
}

// terminalRecord is a record as it goes to a host.
func terminalRecord(r terminal.Record) []byte {
	b := make([]byte, recordHead, recordHead+4+len(r.Data))
	b[0] = byte(r.Kind)
	switch r.Kind {
	case terminal.Snapshot, terminal.Size:
		b = binary.BigEndian.AppendUint16(b, uint16(r.Cols))
		b = binary.BigEndian.AppendUint16(b, uint16(r.Rows))
	case terminal.End:
		data, err := json.Marshal(TerminalExit{Code: r.Exit.Code, Killed: r.Exit.Killed})
		if err != nil {
			panic(err) // numbers only
		}
		b = append(b, data...)
	case terminal.Output:
	}
	b = append(b, r.Data...)
	binary.BigEndian.PutUint32(b[1:], uint32(len(b)-recordHead))
	return b
}

// readTerminalRecord does what the next record of a host says.
func readTerminalRecord(ctx context.Context, r io.Reader, view *terminal.View) error {
	var head [recordHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxTyped {
		return fmt.Errorf("read a terminal's input: %d bytes in one record", size)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return err
	}
	switch head[0] {
	case terminalInput:
		if err := view.Type(ctx, data); err != nil && !errors.Is(err, terminal.ErrEnded) {
			return err
		}
	case terminalSize:
		if len(data) != 4 {
			return errors.New("read a terminal's size: not four bytes")
		}
		view.Resize(int(binary.BigEndian.Uint16(data)), int(binary.BigEndian.Uint16(data[2:])))
	case terminalLead:
		view.Lead()
	case terminalLooks:
		if c := strings.Split(string(data), ";"); len(c) == 3 {
			view.SetColours(c[0], c[1], c[2])
		}
	}
	return nil
}

func (s terminalService) Type(ctx context.Context, args TypeText) (Typed, error) {
	o, err := s.app.terminals.get(args.ID)
	if err != nil {
		return Typed{}, err
	}
	if len(args.Text) > maxTypedText {
		return Typed{}, &Error{Code: "too_large", Message: "This text is too long for a prompt."}
	}
	wait, cancel := context.WithTimeout(ctx, promptWait)
	defer cancel()
	// A shell that has just started shows its prompt first; those that take pasted text say so with it.
	o.term.Await(wait, func(bracketed, used bool) bool {
		return bracketed || used && !strings.Contains(strings.TrimSpace(args.Text), "\n")
	})
	data, left := promptText(args.Text, o.term.Bracketed())
	if err := o.term.Type(ctx, data); err != nil {
		return Typed{}, &Error{Code: "terminal", Message: "The program in this terminal has ended.", Cause: err}
	}
	return Typed{Left: left}, nil
}

// promptText is a text as it can be typed without that anything happens: control characters and the last
// line's end are left out, and lines after the first where the program would act on each.
func promptText(text string, bracketed bool) (data []byte, left int) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, strings.TrimRight(text, "\n\t "))
	if bracketed {
		text = strings.ReplaceAll(text, "\n", "\r")
		return []byte("\x1b[200~" + text + "\x1b[201~"), 0
	}
	first, rest, more := strings.Cut(strings.ReplaceAll(text, "\t", " "), "\n")
	if more {
		left = strings.Count(rest, "\n") + 1
	}
	return []byte(first), left
}
