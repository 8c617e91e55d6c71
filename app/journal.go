package app

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"carrel/store/output"
)

// Journal is what the App's logger writes to, as far as hosts may see it.
type Journal struct {
	Book  *output.Book
	File  string       // the log file; "" when the log goes elsewhere, such as to a terminal
	Empty func() error // empties File; nil without one
}

const (
	outputTopic = "output"
	// tellOutputEvery is how often hosts hear of new lines: a flood of them is a few events.
	tellOutputEvery = 100 * time.Millisecond
	// maxToldLines is how many lines one event has: the newest.
	maxToldLines = 500
)

// outputLevels are what a person can choose, from all to little.
var outputLevels = []string{"debug", "info", "warn", "error"}

// journal implements OutputAPI.
type journal struct {
	Journal
	app  *App
	wake chan struct{} // has an element when there are new lines
}

func newJournal(a *App, j Journal) *journal {
	if j.Book == nil {
		j.Book = output.New()
	}
	out := &journal{Journal: j, app: a, wake: make(chan struct{}, 1)}
	j.Book.OnLine(func() {
		select {
		case out.wake <- struct{}{}:
		default:
		}
	})
	return out
}

// tell tells hosts of new lines until ctx ends.
func (j *journal) tell(ctx context.Context) {
	var last uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-j.wake:
		}
		lines := j.Book.Since(last)
		if len(lines) > 0 {
			last = lines[len(lines)-1].Seq
			if j.watched() {
				j.app.publish(OutputGrew{Lines: outputLines(lines[max(0, len(lines)-maxToldLines):])})
			}
		}
		pause := time.NewTimer(tellOutputEvery)
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

func (j *journal) watched() bool {
	j.app.mu.Lock()
	audience := j.app.audience
	j.app.mu.Unlock()
	return audience != nil && audience(outputTopic)
}

func outputLines(in []output.Line) []OutputLine {
	out := make([]OutputLine, len(in))
	for i, l := range in {
		out[i] = OutputLine{Seq: l.Seq, Time: l.Time, Level: outputLevel(l.Level), Text: l.Text, Attrs: l.Attrs}
	}
	return out
}

func outputLevel(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "error"
	case l >= slog.LevelWarn:
		return "warn"
	case l >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}

func (j *journal) Read(context.Context) (Output, error) {
	v, err := j.app.root.Settings()
	if err != nil {
		return Output{}, userError(err)
	}
	if !slices.Contains(outputLevels, v.OutputLevel) {
		v.OutputLevel = "info"
	}
	return Output{Lines: outputLines(j.Book.Since(0)), Level: v.OutputLevel, File: j.File}, nil
}

func (j *journal) SetLevel(_ context.Context, args SetOutputLevel) error {
	if !slices.Contains(outputLevels, args.Level) {
		return &Error{Code: "bad_request", Message: "The level must be debug, info, warn or error."}
	}
	if err := j.app.root.SetSetting([]string{"outputLevel"}, args.Level); err != nil {
		return userError(err)
	}
	j.app.settingsChanged()
	return nil
}

func (j *journal) Clear(context.Context) error {
	j.Book.Clear()
	j.app.publish(OutputCleared{})
	if j.Empty == nil {
		return nil
	}
	if err := j.Empty(); err != nil {
		j.app.logger.Warn("empty the log file", "err", err)
		return &Error{Code: "failed", Message: "The lines are cleared here, but the log file could not be emptied.", Cause: err}
	}
	return nil
}

func (j *journal) OpenFile(ctx context.Context) error {
	if j.File == "" {
		return &Error{Code: "no_file", Message: "This core writes no log file: its log goes to the terminal that started it."}
	}
	w, err := j.app.windowFor("The log file is " + j.File + ".")
	if err != nil {
		return err
	}
	return w.OpenFile(ctx, j.File)
}
