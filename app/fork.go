package app

import "context"

// Fork makes a workspace that goes on from another one's conversation.
func (d desks) Fork(ctx context.Context, args ForkWorkspace) (Workspace, error) {
	_, _ = ctx, args
	return Workspace{}, &Error{Code: "internal", Message: "Forking is not there yet."}
}
