// Package export writes a conversation for people to keep and for programs to read.
//
// It promises: it writes as it reads, a few records at a time, however long the conversation; it
// needs no lock and works while the conversation goes on; what an edit or /clear left behind is in
// it only when asked for, and then marked; nothing that a model or a tool wrote can break out of
// its place in the document.
package export

import (
	"context"
	"fmt"
	"io"
	"time"

	"carrel/agent/transcript"
)

// Format is the form of an export.
type Format string

// The forms.
const (
	Markdown Format = "md"
	JSON     Format = "json" // docs/export.md has the schema
)

// Options chooses what is written.
type Options struct {
	Format    Format
	Reasoning bool // the reasoning of models too
	// Left writes all that is in the log: also what edits left and what is before the last /clear.
	Left bool
}

// About is what a document says of the conversation.
type About struct {
	Workspace string    `json:"id"`
	Name      string    `json:"name"`
	Title     string    `json:"title"`
	Project   string    `json:"project,omitempty"` // its name
	Branch    string    `json:"branch,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	At        time.Time `json:"-"` // now
}

// writer takes records in order. left says that a record was left behind.
type writer interface {
	begin(a About) error
	record(r *transcript.Record, left bool) error
	end() error
}

// Write writes the conversation whose log is in dir. A conversation that does not exist is empty.
func Write(ctx context.Context, w io.Writer, dir string, a About, o Options) error {
	var out writer
	switch o.Format {
	case Markdown:
		out = &markdown{w: w, reasoning: o.Reasoning}
	case JSON:
		out = &document{w: w, reasoning: o.Reasoning}
	default:
		return fmt.Errorf("export %q: there is no format %q", a.Name, o.Format)
	}
	err := out.begin(a)
	if err == nil && o.Left {
		err = writeAll(ctx, dir, out)
	} else if err == nil {
		err = writeShown(ctx, dir, out)
	}
	if err == nil {
		err = out.end()
	}
	if err != nil {
		return fmt.Errorf("export %q: %w", a.Name, err)
	}
	return nil
}

// batch is how many records are held at a time.
const batch = 16

// writeShown writes what people are shown.
func writeShown(ctx context.Context, dir string, out writer) error {
	log, err := transcript.OpenReader(dir)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // it was only read
	for last, more := uint64(0), true; more; {
		var recs []transcript.Record
		if recs, more, err = log.After(last, batch); err != nil {
			return err
		}
		for i := range recs {
			last = recs[i].Seq
			if err := out.record(&recs[i], false); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// span is a range of records that an edit left: from, up to and not including, to.
type span struct{ from, to uint64 }

// scanStep is how many bytes are read of a log between two looks at the context.
const scanStep = 4 << 20

// writeAll writes all records: once through the log for what was left, once more to write.
func writeAll(ctx context.Context, dir string, out writer) error {
	var spans []span
	err := scan(ctx, dir, func(r *transcript.Record) error {
		if r.From > 0 && r.From < r.Seq {
			spans = append(spans, span{r.From, r.Seq})
		}
		if r.Kind == transcript.Boundary && r.Border == transcript.Clear {
			spans = append(spans, span{0, r.Seq})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return scan(ctx, dir, func(r *transcript.Record) error {
		left := false
		for _, s := range spans {
			left = left || s.from <= r.Seq && r.Seq < s.to
		}
		return out.record(r, left)
	})
}

func scan(ctx context.Context, dir string, f func(*transcript.Record) error) error {
	var failed error
	for pos := int64(0); ; {
		next, err := transcript.Scan(dir, pos, scanStep, func() {}, func(_ transcript.Place, r *transcript.Record) bool {
			failed = f(r)
			return failed == nil
		})
		switch {
		case failed != nil:
			return failed
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case next <= pos:
			return nil
		}
		pos = next
	}
}
