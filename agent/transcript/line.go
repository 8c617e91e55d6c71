package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line, in bytes with its newline, that is written or read. Larger content
// belongs into a blob.
const maxLine = 32 << 20

// ErrTooLarge is wrapped by Append for a record over 32 MiB.
var ErrTooLarge = errors.New("record is over 32 MiB")

// maxTries bounds the search of a damaged line, whose cost could be quadratic otherwise.
const maxTries = 1000

// recordHead is how every line that we write begins; a damaged line is searched for it.
var recordHead = []byte(`{"seq":`)

// encodeLine gives the line of a record, newline included.
func encodeLine(r *Record) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encode record %q: %w", r.Kind, err)
	}
	if b.Len() > maxLine {
		return nil, fmt.Errorf("encode record %q (%d bytes): %w", r.Kind, b.Len(), ErrTooLarge)
	}
	return b.Bytes(), nil
}

// found is a record in a line: where it begins in it, and its length in bytes.
type found struct {
	at, size int
	rec      Record
}

// decodeLine gives the records of a line: one in a sound line, what is recoverable of a damaged
// one. whole is false when some of the line could not be read.
func decodeLine(line []byte) (recs []found, whole bool) {
	line = bytes.TrimRight(line, "\r\n")
	if len(bytes.TrimSpace(line)) == 0 {
		return nil, len(line) == 0
	}
	var r Record
	if err := json.Unmarshal(line, &r); err == nil && sound(&r) {
		return []found{{0, len(line), r}}, true
	}
	for pos, tries := 0, 0; pos < len(line) && tries < maxTries; tries++ {
		i := bytes.Index(line[pos:], recordHead)
		if i < 0 {
			break
		}
		pos += i
		var r Record
		dec := json.NewDecoder(bytes.NewReader(line[pos:]))
		if err := dec.Decode(&r); err != nil || !sound(&r) {
			pos++
			continue
		}
		size := int(dec.InputOffset())
		recs = append(recs, found{pos, size, r})
		pos += size
	}
	return recs, false
}

// sound reports whether a record has what its kind promises. Kinds of a newer version are sound.
func sound(r *Record) bool {
	switch r.Kind {
	case User, Partial, Assistant:
		return r.Seq > 0 && r.Message != nil
	case ToolEnd:
		return r.Seq > 0 && r.Result != nil
	case TurnStart, TurnEnd, StepStart, ToolStart, Note, Todos, Retry, Answer:
		return r.Seq > 0
	case Question:
		return r.Seq > 0 && r.Asked != nil
	case Setup:
		return r.Seq > 0 && r.Frame != nil
	case Edit:
		return r.Seq > 0 && r.From > 0
	case Boundary:
		return r.Seq > 0 && r.Border != ""
	}
	return r.Seq > 0 && r.Kind != ""
}

// eachLine calls f for every line of r from the byte from up to the byte to. The line, newline
// included, is valid during the call; it is nil when it was over maxLine. terminated is false for
// a last line without newline.
func eachLine(r io.ReaderAt, from, to int64, f func(off int64, size int64, line []byte, terminated bool)) error {
	br := bufio.NewReaderSize(io.NewSectionReader(r, from, to-from), 64<<10)
	off := from
	var long []byte
	var size int64
	for {
		piece, err := br.ReadSlice('\n')
		size += int64(len(piece))
		if errors.Is(err, bufio.ErrBufferFull) || (len(long) > 0 && len(piece) > 0) {
			if size <= maxLine {
				long = append(long, piece...)
			}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if size > 0 {
			line := piece
			if size > maxLine {
				line = nil
			} else if len(long) > 0 {
				line = long
			}
			f(off, size, line, err == nil)
		}
		if err != nil {
			return nil
		}
		off += size
		size, long = 0, long[:0]
	}
}
