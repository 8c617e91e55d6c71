package app

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// SetDraft keeps what the person is writing; one without text and files is forgotten.
func (c conversations) SetDraft(ctx context.Context, args SetDraft) error {
	switch {
	case len(args.Text) > maxMessage:
		return &Error{Code: "too_large", Message: "The message is larger than 1 MiB. Put long text into a file and name the file."}
	case len(args.Files) > maxUploads:
		return tooManyFiles()
	case slices.ContainsFunc(args.Files, func(f Upload) bool { return len(f.Data) > 0 || len(f.ID)+len(f.Blob)+len(f.Name) > maxLine }):
		return &Error{Code: "bad_request", Message: "A draft takes files that were uploaded."}
	}
	if err := c.app.keepDraft(ctx, args); err != nil {
		return userError(err)
	}
	c.app.publish(DraftChanged(args))
	return nil
}

// keepDraft writes a draft of a workspace that is there.
func (a *App) keepDraft(ctx context.Context, d SetDraft) error {
	db, err := a.root.DB(ctx)
	if err != nil {
		return err
	}
	if d.Text == "" && len(d.Files) == 0 {
		_, err = db.ExecContext(ctx, `DELETE FROM drafts WHERE workspace_id = ?`, d.Workspace)
	} else {
		var files []byte
		if files, err = json.Marshal(d.Files); err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, `INSERT INTO drafts (workspace_id, text, files, updated_at)
			SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM workspaces WHERE id = ?1)
			ON CONFLICT (workspace_id) DO UPDATE SET text = ?2, files = ?3, updated_at = ?4`,
			d.Workspace, d.Text, string(files), time.Now().UnixMilli())
	}
	if err != nil {
		return fmt.Errorf("keep draft of %q: %w", d.Workspace, err)
	}
	return nil
}

// draft is what the person was writing in a workspace.
func (a *App) draft(ctx context.Context, id string) (text string, files []Upload, err error) {
	db, err := a.root.DB(ctx)
	if err != nil {
		return "", nil, err
	}
	var raw sql.NullString
	err = db.QueryRowContext(ctx, `SELECT text, files FROM drafts WHERE workspace_id = ?`, id).Scan(&text, &raw)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil, nil
	}
	if err == nil && raw.Valid {
		err = json.Unmarshal([]byte(raw.String), &files)
	}
	if err != nil {
		return "", nil, fmt.Errorf("read draft of %q: %w", id, err)
	}
	return text, files, nil
}
