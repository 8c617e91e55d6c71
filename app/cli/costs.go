package cli

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

type costsOptions struct {
	by, since, workspace, project, model string
	limit                                int
}

func costsCommand(io IO) *cobra.Command {
	var o costsOptions
	c := &cobra.Command{Use: "costs", Aliases: []string{"cost"}, Short: "Show what models used and cost", Args: noArgs,
		Example: `  carrel costs                        each workspace, the most expensive first
  carrel costs --by day --since 7d    the last week, day by day
  carrel costs -w fix-it --by model   one workspace, model by model`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := o.query(time.Now())
			if err != nil {
				return err
			}
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				if err := o.places(ctx, s, &q); err != nil {
					return err
				}
				var sum app.CostSummary
				if err := s.Call(ctx, "costs.summary", q, &sum); err != nil {
					return err
				}
				if isJSON(cmd) {
					return printJSON(io.Out, sum)
				}
				return showCosts(io, sum)
			})
		}}
	f := c.Flags()
	f.StringVar(&o.by, "by", "workspace", "a line for each `KIND`: workspace, project, model, day or message")
	f.StringVar(&o.since, "since", "", "from `TIME` on: a day as 2006-01-02, or how long ago, as 12h or 7d")
	f.StringVarP(&o.workspace, "workspace", "w", "", "only this `workspace` and its sub-agents, by name or id")
	f.StringVarP(&o.project, "project", "p", "", "only this `project`")
	f.StringVarP(&o.model, "model", "m", "", "only this `model`, as provider:name")
	f.IntVarP(&o.limit, "limit", "n", 50, "at most `N` lines, up to 1000")
	return c
}

func (o costsOptions) query(now time.Time) (app.CostQuery, error) {
	q := app.CostQuery{By: app.CostsBy(o.by), Model: o.model, Limit: o.limit}
	switch q.By {
	case app.CostsByWorkspace, app.CostsByProject, app.CostsByModel, app.CostsByDay, app.CostsByMessage:
	default:
		return q, usage("--by is workspace, project, model, day or message, not %q", o.by)
	}
	if o.limit < 1 || o.limit > 1000 {
		return q, usage("--limit is 1 to 1000")
	}
	if o.since != "" {
		from, ok := since(now, o.since)
		if !ok {
			return q, usage("--since is a day as 2006-01-02, or how long ago, as 12h or 7d, not %q", o.since)
		}
		q.From = &from
	}
	return q, nil
}

// agoForm is how long ago something was, in hours, days or weeks.
var agoForm = regexp.MustCompile(`^([0-9]{1,5})([hdw])$`)

// since reads a day, or how long ago: days begin at midnight.
func since(now time.Time, s string) (time.Time, bool) {
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, true
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, true
	}
	m := agoForm.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, false
	}
	n, _ := strconv.Atoi(m[1]) // five digits at most
	if m[2] == "h" {
		return now.Add(-time.Duration(n) * time.Hour), true
	}
	if m[2] == "w" {
		n *= 7
	}
	y, month, d := now.Date()
	return time.Date(y, month, d-n, 0, 0, 0, 0, now.Location()), true
}

// places turns the names of workspace and project into ids. A workspace that was deleted is known by
// its id alone.
func (o costsOptions) places(ctx context.Context, s wire.Caller, q *app.CostQuery) error {
	if o.project != "" {
		p, err := findProject(ctx, s, o.project)
		if err != nil {
			return err
		}
		q.Project = p.ID
	}
	if o.workspace == "" {
		return nil
	}
	w, err := findWorkspace(ctx, s, o.workspace, o.project)
	if err == nil {
		q.Workspace = w.ID
		return nil
	}
	gone := app.CostSummary{}
	by := app.CostQuery{Workspace: o.workspace, Limit: 1}
	if called := s.Call(ctx, "costs.summary", by, &gone); called != nil || gone.Total.Requests == 0 {
		return err
	}
	q.Workspace = o.workspace
	return nil
}

func showCosts(io IO, s app.CostSummary) error {
	if s.Total.Requests == 0 {
		_, _ = fmt.Fprintln(io.Err, "carrel: nothing was used that this asks for")
		return nil
	}
	head := strings.ToUpper(string(s.By))
	rows := make([][]string, 0, len(s.Lines)+1)
	for _, l := range append(s.Lines, s.Total) {
		rows = append(rows, costRow(s.By, l))
	}
	rows[len(rows)-1][0] = "total"
	if err := table(io, []string{head, "REQUESTS", "INPUT", "OUTPUT", "CACHED", "COST"}, rows); err != nil {
		return err
	}
	if s.More > 0 {
		_, _ = fmt.Fprintf(io.Err, "carrel: and %d more lines, which the total holds; see them with --limit\n", s.More)
	}
	return nil
}

func costRow(by app.CostsBy, l app.CostLine) []string {
	name := l.Key
	switch by {
	case app.CostsByWorkspace, app.CostsByProject:
		if l.Name != "" {
			name = l.Name
		}
		if l.Key == "" {
			name = "(none)"
		}
		if l.Gone {
			name += " (deleted)"
		}
	case app.CostsByMessage:
		name = ""
		if l.Last != nil {
			name = l.Last.Local().Format(time.DateTime) + " "
		}
		name += l.Name
	case app.CostsByModel, app.CostsByDay:
	}
	return []string{short(name, 48), strconv.FormatInt(l.Requests, 10), strconv.FormatInt(l.Input, 10),
		strconv.FormatInt(l.Output, 10), strconv.FormatInt(l.CacheRead+l.CacheWrite, 10), dollars(l)}
}

// dollars is a cost for people. What has no known price is never shown as free.
func dollars(l app.CostLine) string {
	switch {
	case l.USD == nil:
		return "unknown"
	case l.Unpriced > 0:
		return fmt.Sprintf("$%.4f + %d unknown", *l.USD, l.Unpriced)
	}
	return fmt.Sprintf("$%.4f", *l.USD)
}
