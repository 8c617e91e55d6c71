package sandbox

import (
	"errors"
	"fmt"

	"carrel/sandbox/plan"
)

// CannotEnforce says that the policy can't be held here. The command has not run.
type CannotEnforce struct {
	Tier plan.Tier // the tier that was tried; empty when none was left
	Why  string    // "user namespaces are refused"
	Mend string    // what a person can do about it; may be empty
	Err  error     // for the log; may be nil
}

// Error is one sentence without the mend.
func (c *CannotEnforce) Error() string {
	if c.Tier == "" {
		return "confine command: " + c.Why
	}
	return fmt.Sprintf("confine command in tier %s: %s", c.Tier, c.Why)
}

// Unwrap gives the cause.
func (c *CannotEnforce) Unwrap() error { return c.Err }

// cannot turns what planning says into what callers handle.
func cannot(err error) error {
	var u *plan.Unavailable
	if errors.As(err, &u) {
		return &CannotEnforce{Tier: u.Tier, Why: u.Why, Mend: u.Mend, Err: err}
	}
	return err
}

// ErrClosed is returned for a box that was closed.
var ErrClosed = errors.New("the sandbox is closed")
