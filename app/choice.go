package app

import (
	"context"
	"errors"
	"time"

	"carrel/agent/catalog"
	"carrel/agent/turn"
	"carrel/workspaces"
)

// choiceOf is what a workspace's row chooses, the default model where it chooses none.
func (a *App) choiceOf(w workspaces.Workspace) turn.Choice {
	c := turn.Choice{Model: w.Model, Level: w.Level, Pro: w.Pro, Cyber: w.Cyber}
	if c.Model == "" {
		c.Model = a.defaultModel()
	}
	return c
}

// SetModel keeps the choice in the registry, and tells the conversation if it is open here.
func (d desks) SetModel(ctx context.Context, args SetModel) error {
	w, err := d.app.registry.Workspace(ctx, args.Workspace)
	if err != nil {
		return userError(err)
	}
	c := d.app.choiceOf(w)
	if args.Model != nil {
		c.Model = *args.Model
		if id := d.app.catalog.Info(c.Model).ID; args.Level == nil && id != d.app.choiceOf(w).Model {
			c.Level = d.app.levelOf(ctx, id, c.Level)
		}
	}
	if args.Level != nil {
		c.Level = *args.Level
	}
	if args.Pro != nil {
		c.Pro = *args.Pro
	}
	if args.Cyber != nil {
		c.Cyber = *args.Cyber
	}
	level, err := catalog.ParseLevel(c.Level)
	if err != nil {
		return userError(err) // a *catalog.ConfigError
	}
	resolved, err := d.app.catalog.Resolve(catalog.Choice{Model: c.Model, Level: level, Pro: c.Pro, Cyber: c.Cyber})
	if err != nil {
		return userError(err)
	}
	c.Model, c.Level = resolved.ID, string(level)
	if err := d.app.registry.SetModel(ctx, args.Workspace, workspaces.ModelChoice(c)); err != nil {
		return userError(err)
	}
	if args.Level != nil && !args.Once {
		if err := d.app.registry.SetLevelOf(ctx, c.Model, c.Level); err != nil {
			return userError(err)
		}
	}
	d.app.workspaceChanged(args.Workspace)
	s := d.app.openNow(args.Workspace)
	if s == nil {
		return nil // it is read from the registry when the conversation is opened
	}
	conv, err := s.writable()
	if err != nil {
		return nil // as above: the other process goes on with its own
	}
	err = conv.SetChoice(ctx, c)
	if errors.Is(err, turn.ErrClosed) {
		return nil // as above: it was closed just now
	}
	return userError(err)
}

// levelOf is the level that a person last chose for a model, otherwise where nobody did.
func (a *App) levelOf(ctx context.Context, model, otherwise string) string {
	level, chosen, err := a.registry.LevelOf(ctx, model)
	if err != nil {
		a.logger.Warn("look how hard a model is to think", "model", model, "err", err)
	}
	if !chosen {
		return otherwise
	}
	return level
}

func (d desks) SetAutoRetry(ctx context.Context, args SetAutoRetry) error {
	if err := d.app.registry.SetAutoRetry(ctx, args.Workspace, args.On); err != nil {
		return userError(err)
	}
	d.app.workspaceChanged(args.Workspace)
	if args.On {
		return nil
	}
	return d.app.stopWaiting(ctx, args.Workspace)
}

// stopWaiting ends a wait for the next attempt, of a conversation that is open here.
func (a *App) stopWaiting(ctx context.Context, id string) error {
	s := a.openNow(id)
	if s == nil {
		return nil
	}
	conv, err := s.writable()
	if err != nil {
		return nil // the process that has it looks at the choice before each attempt
	}
	if err := conv.StopRetry(ctx); !errors.Is(err, turn.ErrClosed) {
		return userError(err)
	}
	return nil
}

// autoRetry says whether the workspace's failed requests are tried again by themselves.
func (s *session) autoRetry() bool {
	w, err := s.app.registry.Workspace(context.Background(), s.id)
	return err != nil || w.AutoRetry
}

// onceView writes the choice of one message as a person would: "anthropic:claude-opus-5-5+high".
func onceView(c *turn.Choice) string {
	switch {
	case c == nil:
		return ""
	case c.Level == "":
		return c.Model
	}
	return c.Model + "+" + c.Level
}

// mendAll lets conversations that stopped because of settings try whether they work now. It sends
// nothing to a model, and does not wait.
func (a *App) mendAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	for _, o := range a.sessions {
		s := o.now()
		if s == nil {
			continue
		}
		if conv, err := s.writable(); err == nil {
			a.work.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), mendWait)
				defer cancel()
				_ = conv.Mended(ctx) // one that is closed or busy is as well off without
			})
		}
	}
}

// mendWait bounds how long a conversation may take to look at changed settings.
const mendWait = 30 * time.Second
