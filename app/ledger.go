package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"carrel/agent/costs"
	"carrel/agent/transcript"
	"carrel/workspaces"
)

// ledgerWait bounds how long somebody waits for what was spent a moment ago to be entered.
const ledgerWait = 5 * time.Second

// ledger enters what model requests cost, on a goroutine of its own: a conversation's owner never
// waits for the database.
type ledger struct {
	app  *App
	book *costs.Book
	wake chan struct{} // has an element when there is something to enter
	quit chan struct{}
	done chan struct{}

	mu   sync.Mutex
	todo []func(ctx context.Context)
}

func newLedger(a *App, book *costs.Book) *ledger {
	l := &ledger{app: a, book: book, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go l.run()
	return l
}

func (l *ledger) run() {
	defer close(l.done)
	for last := false; !last; {
		select {
		case <-l.wake:
		case <-l.quit:
			last = true
		}
		for f := l.take(); f != nil; f = l.take() {
			f(context.Background())
		}
	}
}

func (l *ledger) take() func(context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.todo) == 0 {
		return nil
	}
	f := l.todo[0]
	l.todo = l.todo[1:]
	return f
}

func (l *ledger) do(f func(context.Context)) {
	l.mu.Lock()
	l.todo = append(l.todo, f)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// close enters what is left and ends the goroutine.
func (l *ledger) close() {
	close(l.quit)
	<-l.done
}

// settle waits until what was added before is entered.
func (l *ledger) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerWait)
	defer cancel()
	entered := make(chan struct{})
	l.do(func(context.Context) { close(entered) })
	select {
	case <-entered:
		return nil
	case <-l.done:
		return errClosing
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rowOf is the row of a response.
func rowOf(id string, r *transcript.Record) costs.Row {
	return costs.Row{Workspace: id, At: r.Time, Seq: r.Seq, Model: r.Message.Model, Tier: r.Message.Tier,
		Usage: r.Message.Usage, Cost: r.Cost, Priced: r.CostKnown}
}

// enter enters rows of one workspace. It runs on the ledger's goroutine.
func (l *ledger) enter(ctx context.Context, rows ...costs.Row) {
	if len(rows) == 0 {
		return
	}
	id := rows[0].Workspace
	w, err := l.app.registry.Workspace(ctx, id)
	if err != nil && !errors.Is(err, workspaces.ErrNotFound) { // without a name it still counts
		l.app.logger.Warn("read whose request it was", "workspace", id, "err", err)
	}
	project := ""
	if w.ProjectID != "" {
		if p, err := l.app.registry.Project(ctx, w.ProjectID); err == nil {
			project = p.Name
		}
	}
	for _, r := range rows {
		r.WorkspaceName, r.Project, r.ProjectName = w.Name, w.ProjectID, project
		if err := l.book.Add(ctx, r); err != nil {
			l.app.logger.Error("enter what a request cost", "workspace", id, "err", err)
		}
	}
}

// catchUp enters, soon, what a process that died had recorded and not entered. log is open, and an old
// one is read from its start the first time.
func (l *ledger) catchUp(s *session, log *transcript.Log) {
	l.app.work.Go(func() {
		rows, err := l.missing(context.Background(), s.id, log)
		if err != nil || len(rows) == 0 { // the log was closed meanwhile: the next time
			return
		}
		l.do(func(ctx context.Context) {
			l.enter(ctx, rows...)
			s.rereadPurse(ctx)
		})
	})
}

// missing gives the responses of a log that are not entered.
func (l *ledger) missing(ctx context.Context, id string, log *transcript.Log) ([]costs.Row, error) {
	last, err := l.book.LastSeq(ctx, id)
	if err != nil {
		l.app.logger.Warn("look for requests that are not entered", "workspace", id, "err", err)
		return nil, err
	}
	var rows []costs.Row
	for more := true; more; {
		var recs []transcript.Record
		if recs, more, err = log.After(last, 64); err != nil {
			return nil, err
		}
		for i := range recs {
			r := &recs[i]
			last = r.Seq
			switch {
			case r.Kind == transcript.Boundary && r.Border == transcript.Fork:
				rows = nil // what was before was spent elsewhere
			case r.Kind == transcript.Assistant && r.Message != nil:
				rows = append(rows, rowOf(id, r))
			}
		}
	}
	return rows, nil
}
