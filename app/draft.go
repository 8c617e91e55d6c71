package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// SetDraft keeps what the person is writing; an empty text forgets it.
func (c conversations) SetDraft(ctx context.Context, args SetDraft) error {
	if len(args.Text) > maxMessage {
		return &Error{Code: "too_large", Message: "The message is larger than 1 MiB. Put long text into a file and name the file."}
	}
	db, err := c.app.root.DB(ctx)
	if err != nil {
		return userError(err)
	}
	if args.Text == "" {
		_, err = db.ExecContext(ctx, `DELETE FROM drafts WHERE workspace_id = ?`, args.Workspace)
	} else {
		_, err = db.ExecContext(ctx, `INSERT INTO drafts (workspace_id, text, updated_at)
			SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM workspaces WHERE id = ?1)
			ON CONFLICT (workspace_id) DO UPDATE SET text = ?2, updated_at = ?3`, args.Workspace, args.Text, time.Now().UnixMilli())
	}
	if err != nil {
		return userError(fmt.Errorf("keep draft of %q: %w", args.Workspace, err))
	}
	return nil
}

// draft is what the person was writing in a workspace.
func (a *App) draft(ctx context.Context, id string) (string, error) {
	db, err := a.root.DB(ctx)
	if err != nil {
		return "", err
	}
	var text string
	err = db.QueryRowContext(ctx, `SELECT text FROM drafts WHERE workspace_id = ?`, id).Scan(&text)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read draft of %q: %w", id, err)
	}
	return text, nil
}
