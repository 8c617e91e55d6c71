package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

// listed is how many workspaces the list shows unless asked for more: a run makes one each time.
const listed = 20

type listOptions struct {
	all     bool
	limit   int
	project string
}

func workspaceList(io IO) *cobra.Command {
	var o listOptions
	c := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List workspaces, the latest first", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.limit < 0 {
				return usage("--limit must not be negative")
			}
			if (isJSON(cmd) || o.all) && !cmd.Flags().Changed("limit") {
				o.limit = 0
			}
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				found, err := o.find(ctx, s)
				if err != nil {
					return err
				}
				more := 0
				if o.limit > 0 && len(found) > o.limit {
					more, found = len(found)-o.limit, found[:o.limit]
				}
				if isJSON(cmd) {
					return printJSON(io.Out, found)
				}
				return showWorkspaces(ctx, io, s, found, more)
			})
		}}
	f := c.Flags()
	f.BoolVarP(&o.all, "all", "a", false, "every one, archived ones too")
	f.IntVarP(&o.limit, "limit", "n", listed, "at most `N`; 0 is no limit, as it is with --all and --json")
	f.StringVarP(&o.project, "project", "p", "", "only this `project`'s")
	return c
}

// find gives the workspaces, the one that was active last first.
func (o listOptions) find(ctx context.Context, s wire.Caller) ([]app.Workspace, error) {
	found := []app.Workspace{}
	if err := s.Call(ctx, "workspaces.list", app.ListWorkspaces{Archived: o.all}, &found); err != nil {
		return nil, err
	}
	if o.project != "" {
		p, err := findProject(ctx, s, o.project)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(w app.Workspace) bool { return w.ProjectID != p.ID })
	}
	slices.SortStableFunc(found, func(a, b app.Workspace) int { return b.ActiveAt.Compare(a.ActiveAt) })
	return found, nil
}

func showWorkspaces(ctx context.Context, io IO, s wire.Caller, found []app.Workspace, more int) error {
	if len(found) == 0 {
		_, _ = fmt.Fprintln(io.Err, "carrel: there are no workspaces; make one with: carrel workspace new, or: carrel run")
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
	rows := make([][]string, 0, len(found))
	for _, w := range found {
		rows = append(rows, []string{w.ID, short(w.Name, 40), short(names[w.ProjectID], 24), stateOf(w), w.Runtime,
			short(branchOf(w), 40), ago(now, w.ActiveAt)})
	}
	if err := table(io, []string{"ID", "NAME", "PROJECT", "STATE", "RUNTIME", "BRANCH", "ACTIVE"}, rows); err != nil {
		return err
	}
	if more > 0 {
		_, _ = fmt.Fprintf(io.Err, "carrel: and %d older; see them with --limit 0\n", more)
	}
	return nil
}
