package app

import "context"

// PinWorkspace says whether a workspace is kept above all projects.
type PinWorkspace struct {
	ID     string `json:"id"`
	Pinned bool   `json:"pinned"`
}

// MoveBefore puts a thing before another one of its kind; Before "" puts it last.
type MoveBefore struct {
	ID     string `json:"id"`
	Before string `json:"before,omitempty"`
}

// Pin keeps a workspace above all projects, or puts it back.
func (d desks) Pin(ctx context.Context, args PinWorkspace) (Workspace, error) {
	err := d.app.registry.Pin(ctx, args.ID, args.Pinned)
	if err == nil {
		d.app.workspaceChanged(args.ID)
	}
	return d.view(ctx, args.ID, err)
}

// Move puts a workspace before another one of its siblings.
func (d desks) Move(ctx context.Context, args MoveBefore) error {
	moved, err := d.app.registry.Place(ctx, args.ID, args.Before)
	for _, id := range moved {
		d.app.workspaceChanged(id)
	}
	return userError(err)
}

// MarkUnseen leaves a workspace unread.
func (d desks) MarkUnseen(ctx context.Context, args ByID) error {
	w, err := d.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return userError(err)
	}
	if _, err := d.app.root.SessionDir(w.ID); err != nil { // where the mark is kept
		return userError(err)
	}
	d.app.setUnseen(w.ID)
	d.app.workspaceChanged(w.ID)
	if s := d.app.openNow(w.ID); s != nil {
		s.publishState()
	}
	return nil
}

// Move puts a project before another one.
func (p projects) Move(ctx context.Context, args MoveBefore) error {
	moved, err := p.app.registry.PlaceProject(ctx, args.ID, args.Before)
	for _, id := range moved {
		p.app.projectChanged(id)
	}
	return userError(err)
}
