package transcript

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"carrel/agent/model"
)

// lostFile is what a model reads in the place of a file whose blob is gone or damaged.
const lostFile = "[a file that was here is lost]"

// Build gives the request of the next step: the frame and the History, with the data of its files.
// It is a function of the log: Requests gives an equal one later. The messages are as the log has
// them, for Repair to make legal. Those of closed steps share their memory from call to call.
func (l *Log) Build(f *Frame) (*model.Request, error) {
	msgs, err := l.History()
	if err != nil {
		return nil, err
	}
	return l.build(f, msgs)
}

func (l *Log) build(f *Frame, msgs []model.Message) (*model.Request, error) {
	r, err := l.Request(f)
	if err != nil {
		return nil, err
	}
	if r.Messages, err = l.WithFiles(f.Bare(msgs)); err != nil {
		return nil, fmt.Errorf("build request: %w", err)
	}
	return r, nil
}

// WithFiles gives the messages with the data of files that blobs hold. A file whose blob is lost
// becomes a text that says so. The input stays as it is; messages without files are shared.
func (l *Log) WithFiles(msgs []model.Message) ([]model.Message, error) {
	copied := false
	for i, m := range msgs {
		parts, err := l.withData(m.Parts)
		if err != nil {
			return nil, err
		}
		if len(parts) == 0 || &parts[0] == &m.Parts[0] {
			continue
		}
		if !copied {
			msgs, copied = slices.Clone(msgs), true
		}
		msgs[i].Parts = parts
	}
	return msgs, nil
}

// withData fills in the data of files, in a copy where there are any.
func (l *Log) withData(parts []model.Part) ([]model.Part, error) {
	copied := false
	for i, p := range parts {
		switch {
		case p.Kind == model.File && p.Blob != "" && p.Data == nil:
			data, err := l.Blob(p.Blob)
			switch {
			case errors.Is(err, ErrNoBlob):
				p = model.Part{Kind: model.Text, Text: lostFile}
			case err != nil:
				return nil, err
			}
			p.Data = data
		case len(p.Parts) > 0:
			inner, err := l.withData(p.Parts)
			if err != nil {
				return nil, err
			}
			if &inner[0] == &p.Parts[0] {
				continue
			}
			p.Parts = inner
		default:
			continue
		}
		if !copied {
			parts, copied = slices.Clone(parts), true
		}
		parts[i] = p
	}
	return parts, nil
}

// Requests calls f with the request of every step of the log, oldest first, also of those that an
// Edit left later. Step is the seq of its StepStart. Steps before the first Setup have none. It
// reads the whole log and holds it in memory: it is for tests and for looking into what was sent.
func (l *Log) Requests(f func(step uint64, r *model.Request) error) error {
	file, end := io.ReaderAt(nil), int64(0)
	if err := l.reading(func() error { file, end = l.f, l.size; return nil }); err != nil {
		return err
	}
	if end == 0 {
		return nil
	}
	var p replay
	var failed error
	err := eachLine(file, 0, end, func(_, _ int64, line []byte, _ bool) {
		recs, _ := decodeLine(line)
		for _, found := range recs {
			r := found.rec
			if last := p.last; failed != nil || r.Seq <= last || last > 0 && r.Seq-last > maxSeqGap {
				continue
			}
			p.add(r)
			if r.Kind != StepStart || p.frame == nil {
				continue
			}
			req, err := l.build(p.frame, p.hist.messages())
			if err == nil {
				err = f(r.Seq, req)
			}
			failed = err
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("rebuild requests: %w", err)
	}
	return nil
}

// replay folds a log again, in memory alone.
type replay struct {
	live  []Record // without those that an Edit left, checkpoints whole
	hist  history
	frame *Frame
	last  uint64
}

func (p *replay) add(r Record) {
	p.last = r.Seq
	if classOf(&r) == classUnknown {
		return
	}
	open := -1 // the checkpoint that r follows
	if r.Kind == Partial || r.Kind == Assistant {
		open = p.checkpoint(r.StepSeq)
	}
	if r.Kind == Partial {
		var before *Record
		if open >= 0 {
			before = &p.live[open]
		}
		whole, ok := growPartial(before, r)
		if !ok {
			return
		}
		r = whole
	}
	if open >= 0 {
		p.live = slices.Delete(p.live, open, open+1)
	}
	if leaves(&r) {
		n, _ := slices.BinarySearchFunc(p.live, r.From, func(r Record, seq uint64) int {
			return int(int64(r.Seq) - int64(seq))
		})
		p.live, p.hist, p.frame = p.live[:n:n], history{}, nil
		for i := range p.live {
			p.fold(&p.live[i])
		}
	}
	p.live = append(p.live, r)
	p.fold(&r)
}

// checkpoint gives the place of the open step's newest checkpoint, or -1.
func (p *replay) checkpoint(step uint64) int {
	for i := len(p.live) - 1; i >= 0; i-- {
		r := &p.live[i]
		if r.Kind == Partial && r.StepSeq == step {
			return i
		}
		if r.Kind == Partial || closes(r) {
			break
		}
	}
	return -1
}

// closes reports whether no checkpoint of the response so far can follow a record.
func closes(r *Record) bool {
	return r.Kind == User || r.Kind == TurnStart || r.Kind == TurnEnd || r.Kind == StepStart || r.Kind == Assistant
}

func (p *replay) fold(r *Record) {
	p.hist.apply(r)
	if r.Kind == Setup {
		p.frame = r.Frame
	}
}
