package app

import (
	"context"
	"fmt"
	"math"
	"time"

	"carrel/agent/costs"
)

// MaxBudget is the greatest budget, in dollars.
const MaxBudget = 1e6

// money implements CostsAPI.
type money struct{ app *App }

func (m money) Summary(ctx context.Context, args CostQuery) (CostSummary, error) {
	f := costs.Filter{By: costs.By(args.By), Workspace: args.Workspace, Project: args.Project, Model: args.Model,
		Zone: time.Local, Limit: args.Limit}
	switch args.By {
	case "":
		f.By = costs.ByWorkspace
	case CostsByWorkspace, CostsByProject, CostsByModel, CostsByDay, CostsByMessage:
	default:
		return CostSummary{}, &Error{Code: "bad_request", Message: fmt.Sprintf("Costs can't be listed by %s.", short(string(args.By)))}
	}
	if args.From != nil {
		f.From = *args.From
	}
	if args.To != nil {
		f.To = *args.To
	}
	if err := m.app.ledger.settle(ctx); err != nil {
		return CostSummary{}, userError(err)
	}
	s, err := m.app.ledger.book.Summary(ctx, f)
	if err != nil {
		return CostSummary{}, userError(err)
	}
	names, err := m.names(ctx, f.By)
	if err != nil {
		return CostSummary{}, userError(err)
	}
	out := CostSummary{By: CostsBy(f.By), Lines: make([]CostLine, 0, len(s.Lines)), More: s.More, Total: costLine(s.Total)}
	for _, l := range s.Lines {
		line := costLine(l)
		if names != nil {
			name, here := names[l.Key]
			line.Gone = !here && l.Key != ""
			if here {
				line.Name = name
			}
		}
		out.Lines = append(out.Lines, line)
	}
	return out, nil
}

// names gives what workspaces or projects are called now.
func (m money) names(ctx context.Context, by costs.By) (map[string]string, error) {
	names := map[string]string{}
	switch by {
	case costs.ByWorkspace:
		all, err := m.app.registry.Workspaces(ctx)
		for _, w := range all {
			names[w.ID] = w.Name
		}
		return names, err
	case costs.ByProject:
		all, err := m.app.registry.Projects(ctx)
		for _, p := range all {
			names[p.ID] = p.Name
		}
		return names, err
	case costs.ByModel, costs.ByDay, costs.ByMessage:
	}
	return nil, nil
}

func costLine(l costs.Line) CostLine {
	u := l.Usage
	c := CostLine{Key: l.Key, Name: l.Name, Requests: l.Requests, Unpriced: l.Unpriced, Input: u.Input, Output: u.Output,
		Reasoning: u.Reasoning, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Searches: u.Searches}
	if l.Unpriced < l.Requests || l.Requests == 0 {
		dollars := usd(l.Cost)
		c.USD = &dollars
	}
	if l.Requests > 0 {
		c.Last = &l.Last
	}
	return c
}

func (m money) SetBudget(ctx context.Context, args SetBudget) error {
	var micro *int64
	if args.USD != nil {
		if math.IsNaN(*args.USD) || *args.USD < 0 || *args.USD > MaxBudget {
			return &Error{Code: "bad_request", Message: "A budget is 0 to 1,000,000 dollars."}
		}
		n := int64(math.Round(*args.USD * microPerUSD))
		micro = &n
	}
	if err := m.app.registry.SetBudget(ctx, args.Workspace, micro); err != nil {
		return userError(err)
	}
	m.app.workspaceChanged(args.Workspace)
	m.app.purseChanged(args.Workspace)
	return userError(m.app.ledger.settle(ctx))
}
