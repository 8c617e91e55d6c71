package app

import (
	"context"
	"errors"
	"time"

	"carrel/agent/search"
	"carrel/agent/transcript"
	"carrel/workspaces"
)

// freshWait bounds how long a search waits for what was said a moment ago to be indexed.
const freshWait = 300 * time.Millisecond

// maxSearch bounds what is read of a query, in bytes.
const maxSearch = 4 << 10

// finder implements SearchAPI.
type finder struct{ app *App }

func (f finder) Find(ctx context.Context, args FindText) (Found, error) {
	if len(args.Text) > maxSearch {
		return Found{}, &Error{Code: "too_large", Message: "That is too long to search for."}
	}
	if err := f.app.freshen(ctx, args.Wait); err != nil {
		return Found{}, userError(err)
	}
	a, err := f.app.index.Find(ctx, search.Query{Text: args.Text, Workspace: args.Workspace, Project: args.Project,
		Role: search.Role(args.Role), Before: args.Before, Limit: args.Limit})
	if errors.Is(err, search.ErrNothing) {
		return Found{}, &Error{Code: "bad_request", Message: "Give at least one word to look for."}
	}
	if err != nil {
		return Found{}, userError(err)
	}
	all, err := f.app.registry.Workspaces(ctx)
	if err != nil {
		return Found{}, userError(err)
	}
	places := make(map[string]workspaces.Workspace, len(all))
	for _, w := range all {
		places[w.ID] = w
	}
	found := Found{Hits: make([]Hit, 0, len(a.Hits)), More: a.More}
	for _, h := range a.Hits {
		if w, ok := places[h.Workspace]; ok { // else it was just deleted
			found.Hits = append(found.Hits, f.hit(h, w))
		}
	}
	behind, known := f.app.index.Behind()
	if found.Behind = behind; !known { // the index was thrown away, or there was no time to look
		found.Behind = max(behind, 1)
		if f.app.updater != nil {
			f.app.updater.TouchAll()
		}
	}
	return found, nil
}

// freshen indexes what was said just now or, when the caller waits, everything.
func (a *App) freshen(ctx context.Context, wait bool) error {
	if wait {
		return a.index.Sync(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, freshWait)
	defer cancel()
	if a.updater != nil {
		a.updater.Hurry(ctx)
		return nil
	}
	if err := a.index.Sync(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

func (f finder) hit(h search.Hit, w workspaces.Workspace) Hit {
	out := Hit{ID: h.ID, Workspace: h.Workspace, Name: w.Name, Title: w.Title, ProjectID: w.ProjectID,
		Archived: w.ArchivedAt != nil, Time: h.Time, Role: HitRole(h.Role), Left: h.Left, Snippet: make([]Piece, 0, len(h.Snippet))}
	for _, p := range h.Snippet {
		out.Snippet = append(out.Snippet, Piece(p))
	}
	seq, part := h.StepSeq, h.Part
	if seq == 0 {
		seq, part = h.Seq, 0
	}
	if part < 0 {
		part = f.partOf(h)
	}
	out.Entry, out.Order = entryID(seq, max(part, 0)), entryOrder(seq, max(part, 0))
	return out
}

// partOf gives the index of the call in its step's response, of which a hit is the output; -1 when
// it is not found.
func (f finder) partOf(h search.Hit) int {
	log, err := transcript.OpenReader(f.app.root.Path("sessions", h.Workspace))
	if err != nil {
		return -1
	}
	defer func() { _ = log.Close() }() // it was only read
	recs, _, err := log.After(h.StepSeq, 4)
	if err != nil {
		return -1
	}
	for _, r := range recs {
		if r.Kind != transcript.Assistant || r.StepSeq != h.StepSeq {
			continue
		}
		for i := range r.Message.Parts {
			if r.Message.Parts[i].CallID == h.CallID {
				return i
			}
		}
	}
	return -1
}

// talks lists every conversation that there is.
func (a *App) talks(ctx context.Context) ([]search.Session, error) {
	all, err := a.registry.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]search.Session, 0, len(all))
	for _, w := range all {
		out = append(out, search.Session{Workspace: w.ID, Project: w.ProjectID})
	}
	return out, nil
}

// searchable notes that a workspace's log has something new to find.
func (a *App) searchable(id string, r *transcript.Record) {
	if r.Kind == transcript.User || r.Kind == transcript.Assistant || r.Kind == transcript.TurnEnd {
		a.touch(id)
	}
}

func (a *App) touch(id string) {
	if a.updater != nil {
		a.updater.Touch(id)
	}
}
