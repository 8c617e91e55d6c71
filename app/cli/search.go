package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

type searchOptions struct {
	workspace, project, role string
	limit                    int
}

func searchCommand(io IO) *cobra.Command {
	var o searchOptions
	c := &cobra.Command{Use: "search WORDS...", Short: "Find what was said in any workspace",
		Long: `Finds what was said in any workspace, the newest first.

All words must be there; "words in quotes" must follow one another; -word must not be there; word*
is the beginning of a word. Case and accents don't count. Before a word with a minus write --.

With --json it prints {"hits":[...],"more":true}.`,
		Example: `  carrel search parser crash
  carrel search '"exit code 2"' --project harbor
  carrel search -- migra* -sqlite`,
		Args: takes(1, 1000, "the words to look for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.limit < 1 || o.limit > 100 {
				return usage("--limit is 1 to 100")
			}
			q := app.FindText{Text: strings.Join(args, " "), Role: app.HitRole(o.role), Limit: o.limit}
			switch q.Role {
			case "", app.HitUser, app.HitAssistant, app.HitTool:
			default:
				return usage("--role is user, assistant or tool, not %q", o.role)
			}
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				found, err := o.find(ctx, io, s, q)
				if err != nil {
					return err
				}
				if isJSON(cmd) {
					return printJSON(io.Out, found)
				}
				return showHits(ctx, io, s, found)
			})
		}}
	f := c.Flags()
	f.StringVarP(&o.workspace, "workspace", "w", "", "only in this `workspace`, by name or id")
	f.StringVarP(&o.project, "project", "p", "", "only in this `project`")
	f.StringVar(&o.role, "role", "", "only what this `ROLE` said: user, assistant or tool")
	f.IntVarP(&o.limit, "limit", "n", 20, "at most `N` hits, up to 100")
	return c
}

// find searches, once everything is indexed: a program that asks once must get the whole answer.
func (o searchOptions) find(ctx context.Context, io IO, s wire.Caller, q app.FindText) (app.Found, error) {
	var found app.Found
	if o.project != "" {
		p, err := findProject(ctx, s, o.project)
		if err != nil {
			return found, err
		}
		q.Project = p.ID
	}
	if o.workspace != "" {
		w, err := findWorkspace(ctx, s, o.workspace, o.project)
		if err != nil {
			return found, err
		}
		q.Workspace = w.ID
	}
	err := s.Call(ctx, "search.find", q, &found)
	if err == nil && found.Behind > 0 {
		if mb := found.Behind >> 20; mb > 0 { // less is read in a moment
			_, _ = fmt.Fprintf(io.Err, "carrel: reading %d MB of history that is new\n", mb)
		}
		q.Wait = true
		err = s.Call(ctx, "search.find", q, &found)
	}
	return found, err
}

func showHits(ctx context.Context, io IO, s wire.Caller, found app.Found) error {
	if len(found.Hits) == 0 {
		_, _ = fmt.Fprintln(io.Err, "carrel: nothing was found")
		return nil
	}
	var projects []app.Project
	if err := s.Call(ctx, "projects.list", nil, &projects); err != nil {
		return err
	}
	names := map[string]string{}
	for _, p := range projects {
		names[p.ID] = p.Name
	}
	now := time.Now()
	for i, h := range found.Hits {
		if i > 0 {
			_, _ = fmt.Fprintln(io.Out)
		}
		place := h.Name
		if p := names[h.ProjectID]; p != "" {
			place = p + "/" + place
		}
		notes := string(h.Role) + ", " + ago(now, h.Time)
		if h.Archived {
			notes += ", archived"
		}
		if h.Left {
			notes += ", left by an edit"
		}
		var text strings.Builder
		for _, p := range h.Snippet {
			text.WriteString(p.Text)
		}
		if _, err := fmt.Fprintf(io.Out, "%s  %s  (%s)\n    %s\n", h.Workspace, short(line(place), 80), notes, strings.TrimSpace(line(text.String()))); err != nil {
			return err
		}
	}
	if found.More {
		_, _ = fmt.Fprintln(io.Err, "carrel: there are older ones; see them with --limit")
	}
	return nil
}
