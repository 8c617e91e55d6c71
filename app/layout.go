package app

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The caps of a Layout.
const (
	maxFolds  = 2000
	maxExtent = 10_000 // pixels
)

// LayoutOf names a kind of window.
type LayoutOf struct {
	Host string `json:"host"` // desktop or browser
}

// Layout is what a kind of window shows and where. All desktop windows share one, and so do all browsers;
// the last one that changed something is kept.
type Layout struct {
	Host         string   `json:"host"` // desktop or browser
	Kept         bool     `json:"kept"` // false: nothing was kept before, and the rest is to be chosen by the page
	SidebarWidth int      `json:"sidebarWidth"`
	RightWidth   int      `json:"rightWidth"`
	SidebarShown bool     `json:"sidebarShown"`
	RightShown   bool     `json:"rightShown"`
	RightTab     string   `json:"rightTab"`
	Workspace    string   `json:"workspace"` // the chosen one
	Folded       []string `json:"folded"`    // ids of projects and workspaces, and names of sections
}

// Layout returns what a kind of window last showed.
func (s system) Layout(ctx context.Context, args LayoutOf) (Layout, error) {
	if err := checkHost(args.Host); err != nil {
		return Layout{}, err
	}
	none := Layout{Host: args.Host, Folded: []string{}}
	db, err := s.app.root.DB(ctx)
	if err != nil {
		return none, userError(err)
	}
	var text string
	err = db.QueryRowContext(ctx, `SELECT layout FROM layouts WHERE host = ?`, args.Host).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return none, nil
	}
	if err != nil {
		return none, userError(fmt.Errorf("read layout of %q: %w", args.Host, err))
	}
	kept := none
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		s.app.logger.Warn("read the layout of a window", "host", args.Host, "err", err)
		return none, nil
	}
	kept.Host, kept.Kept = args.Host, true
	if kept.Folded == nil {
		kept.Folded = []string{}
	}
	return kept, nil
}

// SetLayout keeps what a kind of window shows, for its next start.
func (s system) SetLayout(ctx context.Context, args Layout) error {
	if err := checkHost(args.Host); err != nil {
		return err
	}
	long := len(args.RightTab)+len(args.Workspace) > maxLine || len(args.Folded) > maxFolds
	for _, id := range args.Folded {
		long = long || len(id) > maxLine
	}
	if long || min(args.SidebarWidth, args.RightWidth) < 0 || max(args.SidebarWidth, args.RightWidth) > maxExtent {
		return &Error{Code: "bad_request", Message: "That is no layout of a window."}
	}
	db, err := s.app.root.DB(ctx)
	if err != nil {
		return userError(err)
	}
	text, err := json.Marshal(args)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `INSERT INTO layouts (host, layout, updated_at) VALUES (?1, ?2, ?3)
		ON CONFLICT (host) DO UPDATE SET layout = ?2, updated_at = ?3`, args.Host, string(text), time.Now().UnixMilli())
	if err != nil {
		return userError(fmt.Errorf("keep layout of %q: %w", args.Host, err))
	}
	return nil
}

func checkHost(host string) error {
	if host != "desktop" && host != "browser" {
		return &Error{Code: "bad_request", Message: "A layout is that of the desktop or of the browser."}
	}
	return nil
}
