package plan

import "carrel/sandbox/policy"

// Text is the plan for people: stable, one line a step. It contains no value of a variable.
func (p Plan) Text() string { return "" }

// Key is a hash of what a helper can prepare before it knows the command: mounts, access, watch,
// network. Plans with the same key differ only in Env, Dir, Limits and what is told to people.
func (p Plan) Key() string { return "" }

// Bwrap is the plan as arguments of bubblewrap, up to and including "--" and then what it starts. The
// network namespace, Landlock, seccomp and the environment are that program's (bubblewrap clears none).
func (p Plan) Bwrap(then ...string) []string { return nil }

// Seatbelt is the policy as a profile of macOS and the -D parameters, NAME=value, that it names.
func Seatbelt(p policy.Policy, t Tree, c Command) (profile string, params []string, err error) {
	return "", nil, nil
}

// Host is the machine's own tree.
func Host() Tree { return nil }
