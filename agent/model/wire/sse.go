package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// MaxLine is how long a line of an event stream may be, in bytes. It bounds an event too.
const MaxLine = 8 << 20

// errTooLong is the error of a line or an event above MaxLine.
var errTooLong = errors.New("event stream has a line of more than 8 MiB")

// Events reads server-sent events. It calls data with the content of each, and alive for each line
// that is a comment. What was pending at the end of the stream counts as an event: some servers
// leave out the last empty line.
func Events(r *bufio.Reader, data func([]byte) error, alive func()) error {
	var pending []byte
	for first := true; ; first = false {
		line, readErr := readLine(r)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return readErr
		}
		ended := readErr != nil
		if first {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		switch {
		case len(line) == 0:
		case line[0] == ':':
			alive()
		case bytes.HasPrefix(line, []byte("data:")):
			if len(pending) > 0 {
				pending = append(pending, '\n')
			}
			pending = append(pending, bytes.TrimPrefix(line[5:], []byte(" "))...)
			if len(pending) > MaxLine {
				return errTooLong
			}
		}
		if (len(line) == 0 || ended) && len(pending) > 0 {
			err := data(validUTF8(pending))
			if err != nil || ended {
				return torn(err, ended)
			}
			pending = pending[:0]
		}
		if ended {
			return nil
		}
	}
}

// torn turns the failure to understand a last event without its empty line into what it most
// likely is: a stream that was cut.
func torn(err error, ended bool) error {
	var bad *badEventError
	if ended && errors.As(err, &bad) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readLine gives a line without its end. With io.EOF it gives what came before the end.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.ReadSlice('\n')
			if long = append(long, line...); len(long) > MaxLine {
				return nil, errTooLong
			}
		}
		line = long
	}
	return bytes.TrimRight(line, "\r\n"), err
}

func validUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD"))
}
