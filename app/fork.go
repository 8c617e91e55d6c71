package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"carrel/agent/transcript"
	"carrel/workspaces"
	"carrel/workspaces/runtime"
)

// Fork makes a workspace that goes on from another one's conversation: history, model, level, queue
// and draft are copied, its branch starts at the commit checked out now. Uncommitted changes and a
// turn that is still open stay behind.
func (d desks) Fork(ctx context.Context, args ForkWorkspace) (Forked, error) {
	if args.Message != "" {
		if err := sayable(args.Message, "", false); err != nil {
			return Forked{}, err
		}
	}
	w, err := d.app.registry.Workspace(ctx, args.Workspace)
	if err != nil {
		return Forked{}, userError(err)
	}
	s, done, err := d.app.session(ctx, w.ID)
	if err != nil {
		return Forked{}, userError(err)
	}
	defer done()
	at, err := s.forkPoint(args.Entry)
	if err != nil {
		return Forked{}, err
	}
	n := workspaces.NewWorkspace{ProjectID: w.ProjectID, Name: args.Name, Runtime: w.Runtime, Model: w.Model,
		Seed: func(ctx context.Context, made workspaces.Workspace) error { return d.app.seedFork(ctx, s, w, made, at) }}
	if w.Runtime == runtime.Worktree {
		head, err := d.app.git.Head(ctx, w.Dir)
		if err != nil {
			return Forked{}, cmp.Or(d.app.usable(ctx, w.ID), userError(err))
		}
		n.Base = head.Commit
	}
	made, err := d.app.desks.Create(ctx, n)
	if err != nil {
		return Forked{}, userError(err)
	}
	unsent := ""
	if args.Message != "" {
		unsent = d.sendFirst(ctx, made.ID, args.Message)
	}
	view, err := d.view(ctx, made.ID, nil)
	return Forked{Workspace: view, Unsent: unsent}, err
}

// sendFirst sends a fork's first message. The fork is there whether that works or not: a message that
// can't be sent becomes its draft, and why is returned.
func (d desks) sendFirst(ctx context.Context, id, text string) (unsent string) {
	err := conversations(d).Send(ctx, SendMessage{Workspace: id, Text: text})
	if err == nil {
		return ""
	}
	d.app.logger.Warn("send a fork's first message", "workspace", id, "err", err)
	draft, files, readErr := d.app.draft(ctx, id)
	if draft != "" && draft != text {
		text += "\n\n" + draft
	}
	if kept := errors.Join(readErr, d.app.keepDraft(ctx, SetDraft{Workspace: id, Text: text, Files: files})); kept != nil {
		d.app.logger.Warn("keep a fork's first message", "workspace", id, "err", kept)
	}
	return sentence(err)
}

// seedFork fills what belongs to a fork beside its tree.
func (a *App) seedFork(ctx context.Context, s *session, from, made workspaces.Workspace, at forkPoint) error {
	dir, err := a.root.SessionDir(made.ID)
	if err != nil {
		return err
	}
	if err := transcript.Copy(s.reader(), dir); err != nil {
		return err
	}
	log, err := transcript.Open(dir)
	if err != nil {
		return err
	}
	if at.from > 0 && at.from <= log.State().LastSeq {
		_, err = log.Append(transcript.Record{Kind: transcript.Edit, From: at.from})
	}
	if err == nil {
		_, err = log.Append(transcript.Record{Kind: transcript.Boundary, Border: transcript.Fork,
			Note: fmt.Sprintf("Forked from %s.", label(from.Title))})
	}
	if err := errors.Join(err, log.Sync(), log.Close()); err != nil {
		return fmt.Errorf("mark the fork in the log of %q: %w", made.ID, err)
	}
	choice := workspaces.ModelChoice{Model: from.Model, Level: from.Level, Pro: from.Pro, Cyber: from.Cyber}
	if err := a.registry.SetModel(ctx, made.ID, choice); err != nil {
		return err
	}
	if err := a.registry.SetBudget(ctx, made.ID, from.Budget); err != nil {
		return err
	}
	if err := a.registry.SetAutoRetry(ctx, made.ID, from.AutoRetry); err != nil {
		return err
	}
	if at.from > 0 { // what waits belongs to the end
		return a.keepDraft(ctx, SetDraft{Workspace: made.ID, Text: at.draft})
	}
	return a.registry.CopyWaiting(ctx, from.ID, made.ID)
}

// forkPoint is where a conversation is forked. The zero value is its end.
type forkPoint struct {
	from  uint64 // the message of a person that is left, with all that follows
	draft string
}

// forkPoint finds the place of an entry, "" for the end.
func (s *session) forkPoint(entry string) (forkPoint, error) {
	if entry == "" {
		return forkPoint{}, nil
	}
	e, err := s.entry(entry)
	if err != nil {
		return forkPoint{}, userError(err)
	}
	seq := orderSeq(e.Order)
	if e.Kind == EntryUser {
		return forkPoint{from: seq, draft: e.Text}, nil
	}
	for {
		records, more, err := s.reader().After(seq, entryBatch)
		if err != nil {
			return forkPoint{}, userError(err)
		}
		for i := range records {
			// A message that joined the same turn goes with it.
			if records[i].Kind == transcript.User && (e.Turn == "" || records[i].Turn != e.Turn) {
				return forkPoint{from: records[i].Seq}, nil
			}
		}
		if !more || len(records) == 0 {
			return forkPoint{}, nil
		}
		seq = lastSeq(records)
	}
}
