package tool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	maxReadLines = 2000
	maxReadBytes = 64 << 10
	// maxReadLine is how much of one line is shown.
	maxReadLine = 8 << 10
	// maxScan is how far a file is read to count its lines, and for the lines that are wanted.
	maxScan = 512 << 20
)

// fileRead shows a text file.
type fileRead struct{}

func (fileRead) Spec() Spec {
	s := spec("file_read", `"path":{"type":"string"},
"offset":{"type":"number","description":"First line, from 1"},
"limit":{"type":"number","description":"Number of lines"}`, "path")
	s.ReadOnly = true
	return s
}

func (fileRead) Run(ctx context.Context, c Call) Result {
	in := read(c.Input)
	path := in.need("path")
	offset, ok := in.number("offset")
	if !ok {
		offset = 1
	}
	limit, ok := in.number("limit")
	if !ok {
		limit = maxReadLines
	}
	if in.err == nil && (offset < 1 || limit < 1) {
		in.fail(`"offset" and "limit" must be 1 or more`)
	}
	if in.err != nil {
		return Fail(in.err.Error())
	}
	file, info, err := openFile(ctx, c.Env, path)
	if err != nil {
		return Fail(explain(ctx, c.Env, path, err))
	}
	defer func() { _ = file.Close() }()
	p := &page{path: path, first: offset, limit: min(limit, maxReadLines), size: info.Size()}
	if err := p.read(ctx, file); err != nil {
		return Fail(explain(ctx, c.Env, path, err))
	}
	return p.result()
}

// page is a stretch of lines of a file.
type page struct {
	path         string
	first, limit int
	size         int64

	text    strings.Builder
	shown   int  // lines
	full    bool // no more lines fit
	total   int  // lines of the file
	scanned int64
	more    bool // the file is too large to count its lines
	crlf    bool
	noEnd   bool // the last line has no line end
	foreign bool // some bytes are not UTF-8
	notes   []string
}

func (p *page) read(ctx context.Context, file io.Reader) error {
	r := bufio.NewReaderSize(file, 64<<10)
	head, err := r.Peek(8000)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if why := foreign(head, p.size); why != "" {
		return refusal(p.path + " " + why)
	}
	if strings.HasPrefix(string(head), bom) {
		n, _ := r.Discard(len(bom)) // it was peeked
		p.scanned += int64(n)
	}
	for ctx.Err() == nil {
		start := p.scanned
		line, length, end, err := p.next(ctx, r)
		if length > 0 {
			p.total++
			p.add(line, start, length, end)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if p.scanned > maxScan {
			p.more = true
			return nil
		}
	}
	return ctx.Err()
}

// next reads a line: at most maxReadLine bytes of its text, its length with the line end, and the
// line end. A line that goes on beyond maxScan is given as far as that: a sparse file can have one of
// terabytes.
func (p *page) next(ctx context.Context, r *bufio.Reader) (line []byte, length int64, end string, err error) {
	wanted := p.total+1 >= p.first && p.shown < p.limit && !p.full
	for {
		piece, err := r.ReadSlice('\n')
		length += int64(len(piece))
		p.scanned += int64(len(piece))
		if keep := maxReadLine + len("\r\n") - len(line); wanted && keep > 0 {
			line = append(line, piece[:min(keep, len(piece))]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			if ctx.Err() != nil {
				return line, length, "", ctx.Err()
			}
			if p.scanned > maxScan {
				return line, length, "", nil
			}
			continue
		}
		if strings.HasSuffix(string(piece), "\r\n") {
			end = "\r\n"
		} else if err == nil {
			end = "\n"
		}
		return line, length, end, err
	}
}

// add shows a line if it is wanted and fits. start is its place in the file.
func (p *page) add(line []byte, start, length int64, end string) {
	p.noEnd = end == ""
	if p.total < p.first || p.shown == p.limit || p.full {
		return
	}
	text := strings.TrimSuffix(string(line), end)
	clipped := int64(len(text)) < length-int64(len(end)) || len(text) > maxReadLine
	if clipped {
		text = cutEnd(text, maxReadLine)
	}
	entry := fmt.Sprintf("%d\t%s\n", p.total, clean(text))
	if p.text.Len()+len(entry) > maxReadBytes {
		p.full = true
		return
	}
	p.foreign = p.foreign || clean(text) != text
	p.crlf = p.crlf || end == "\r\n"
	if clipped && len(p.notes) < 5 {
		p.notes = append(p.notes, fmt.Sprintf("line %d clipped: %d of its %d bytes are shown; read on in bash: tail -c +%d %s | head -c %d (add %d for each further piece)",
			p.total, len(text), length-int64(len(end)), start+int64(len(text))+1, quote(p.path), maxReadLine, maxReadLine))
	}
	p.text.WriteString(entry)
	p.shown++
}

func (p *page) result() Result {
	if p.total == 0 {
		return Text("[" + p.path + " is empty]")
	}
	if p.shown == 0 && p.more {
		return Fail(fmt.Sprintf("%s has %d bytes; its first %d hold %d lines, and it is not read further. Use bash: tail -n +%d %s | head -n 100",
			p.path, p.size, p.scanned, p.total, p.first, quote(p.path)))
	}
	if p.shown == 0 {
		return Fail(fmt.Sprintf("%s has %d lines; there is no line %d", p.path, p.total, p.first))
	}
	last := p.first + p.shown - 1
	total := fmt.Sprint(p.total)
	if p.more {
		total = "more than " + total
	}
	note := fmt.Sprintf("[lines %d-%d of %s, %d bytes", p.first, last, total, p.size)
	if p.crlf {
		note += "; lines end with CRLF"
	}
	if last == p.total && p.noEnd {
		note += "; no line end at the end of the file"
	}
	if p.foreign {
		note += "; bytes that are not UTF-8 are shown as \uFFFD, and edits keep them"
	}
	if last < p.total {
		note += fmt.Sprintf("; go on with offset %d", last+1)
	}
	for _, n := range p.notes {
		note += "; " + n
	}
	r := Text(p.text.String() + note + "]")
	r.Detail = Detail{FirstLine: p.first, LastLine: last, TotalLines: p.total}
	return r
}

// quote writes a path for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
