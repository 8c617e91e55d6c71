package turn

import (
	"fmt"

	"carrel/agent/model"
)

// budget asks what may still be spent and remembers it: nil without a limit.
func (c *Conversation) budget() *int64 {
	c.left = nil
	if c.cfg.Budget != nil {
		if left, limited := c.cfg.Budget(); limited {
			c.left = &left
		}
	}
	return c.left
}

// overBudget ends the turn before a request that would cost more than is left.
func (c *Conversation) overBudget(t *openTurn, req *model.Request) *outcome {
	limit := c.budget()
	if limit == nil {
		return nil
	}
	left := *limit
	const mend = "Raise the budget, then go on with Retry or a message."
	if left <= 0 {
		o := failed(CodeBudget, "The budget is used up. "+mend)
		return &o
	}
	if t.end.Price == nil {
		return nil
	}
	about, known := t.end.Price(c.gauge.next(req), req.Tier)
	if !known || about <= left {
		return nil
	}
	o := failed(CodeBudget, fmt.Sprintf("The next request would cost about %s, and %s of the budget is left. %s", dollars(about), dollars(left), mend))
	return &o
}

func dollars(micro int64) string {
	if micro < 100_000 {
		return fmt.Sprintf("$%.4f", float64(micro)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(micro)/1e6)
}
