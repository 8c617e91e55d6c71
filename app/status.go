package app

import (
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// microPerUSD is how many of the ledger's units are a dollar.
const microPerUSD = 1e6

// status is the conversation as it is now, without its entries.
func (s *session) status() Status {
	state, log := s.current(), s.reader().State()
	unseen := false
	s.app.attend(s.id, func(d *deskState) { unseen = d.unseen })
	return Status{Activity: activity(state.State, unseen), Queue: queueViews(state.Queue), Held: state.Held,
		Todos: todoViews(log.Todos), Model: state.Choice.Model, Level: state.Choice.Level, Pro: state.Choice.Pro,
		Cyber: state.Choice.Cyber, Retry: retryView(state.Retry), Question: questionView(state.Question), Usage: s.usage(state, log)}
}

func retryView(r *turn.RetryWait) *RetryWait {
	if r == nil {
		return nil
	}
	return &RetryWait{At: r.At, Attempt: r.Attempt, Of: r.Of, Code: r.Code, Reason: r.Reason}
}

// maxQueueShown bounds the texts of a queue, in bytes: each change of a conversation's status carries them.
const maxQueueShown = 256 << 10

func queueViews(in []turn.Queued) []Queued {
	out := make([]Queued, 0, len(in))
	for i := range in {
		q := queueView(&in[i])
		if most := maxQueueShown / len(in); len(q.Text) > most {
			q.Text, q.Cut = q.Text[:runeStart(q.Text, most)], true
		}
		out = append(out, q)
	}
	return out
}

func queueView(q *turn.Queued) Queued {
	return Queued{ID: q.ID, Text: q.Text, Time: q.At, Dispatch: Dispatch(q.Dispatch), Once: onceView(q.Choice), Files: fileRefs(q.Parts())}
}

func (s *session) usage(state turn.StateChange, log transcript.State) Usage {
	spent, limit := s.purse.total()
	u := Usage{Input: log.Usage.Input, Output: log.Usage.Output, CacheRead: log.Usage.CacheRead, CacheWrite: log.Usage.CacheWrite,
		Context: max(log.Context, state.Tokens), Window: state.Window, SpentUSD: usd(spent)}
	if state.Tokens > 0 {
		u.Context = state.Tokens
	}
	if limit != nil {
		budget := usd(*limit)
		u.BudgetUSD = &budget
	}
	return u
}

func usd(micro int64) float64 { return float64(micro) / microPerUSD }
