package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/workspaces"
)

// unseenMark is the file in a session's folder that says that a turn ended by itself and nobody has
// looked since; without it a restart would forget what the sidebar showed.
const unseenMark = "unseen"

// recoverTurns finds out how each conversation ended, and opens those that were cut off in a turn, so
// that they say so.
func (a *App) recoverTurns(ctx context.Context) {
	all, err := a.registry.Workspaces(ctx)
	if err != nil {
		a.logger.Error("recover turns", "err", err)
		return
	}
	for _, w := range all {
		if ctx.Err() != nil {
			return
		}
		if w.ArchivedAt != nil {
			continue
		}
		if err := a.recoverTurn(ctx, w); err != nil {
			a.logger.Error("recover a turn", "workspace", w.ID, "err", err)
		}
	}
}

func (a *App) recoverTurn(ctx context.Context, w workspaces.Workspace) error {
	dir := a.root.Path("sessions", w.ID)
	st, err := endOf(dir)
	if err != nil {
		return err
	}
	if st.Turn != "" || st.Unanswered != "" {
		s, done, err := a.session(ctx, w.ID)
		if err != nil {
			return err
		}
		defer done()
		if end := s.reader().State().LastEnd; end != nil && end.Turn == st.Turn && end.End == transcript.Done {
			a.setUnseen(w.ID) // only the end of an answered turn was missing: it ended well just now
			a.workspaceChanged(w.ID)
		}
		return nil
	}
	_, err = os.Stat(filepath.Join(dir, unseenMark))
	unseen, ended := err == nil, endState(st)
	if !unseen && ended == turn.Idle {
		return nil
	}
	a.mu.Lock()
	d := a.deskOf(w.ID)
	if d.turn == "" { // it was not opened meanwhile
		d.turn, d.unseen = ended, unseen
	}
	a.mu.Unlock()
	a.workspaceChanged(w.ID)
	return nil
}

// endOf is how the log in a session's folder ends; without a log nothing was said.
func endOf(dir string) (transcript.State, error) {
	if _, err := os.Stat(filepath.Join(dir, "transcript.jsonl")); errors.Is(err, fs.ErrNotExist) {
		return transcript.State{}, nil
	}
	log, err := transcript.OpenReader(dir)
	if err != nil {
		return transcript.State{}, err
	}
	return log.State(), log.Close()
}

// endState is what a conversation's state was after its last turn.
func endState(st transcript.State) turn.State {
	if st.LastEnd == nil {
		return turn.Idle
	}
	switch st.LastEnd.End {
	case transcript.Interrupted, transcript.Crashed:
		return turn.Interrupted
	case transcript.Failed:
		return turn.Failed
	case transcript.Done:
	}
	return turn.Idle
}

// setUnseen notes that a turn ended by itself, well or not, for the person to look at. The output of a command's own
// turn (carrel run) was seen as it came.
func (a *App) setUnseen(id string) {
	a.mu.Lock()
	a.deskOf(id).unseen = true
	a.mu.Unlock()
	if a.watcher == nil {
		return
	}
	if err := os.WriteFile(a.root.Path("sessions", id, unseenMark), nil, 0o600); err != nil {
		a.logger.Warn("note what was not seen", "workspace", id, "err", err)
	}
}

// setSeen notes that the person looked, and reports whether there was something to see.
func (a *App) setSeen(id string) bool {
	was := false
	a.attend(id, func(d *deskState) { was, d.unseen = d.unseen, false })
	if !was {
		return false
	}
	if err := os.Remove(a.root.Path("sessions", id, unseenMark)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.logger.Warn("note what was seen", "workspace", id, "err", err)
	}
	return true
}
