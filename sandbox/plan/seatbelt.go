package plan

import "carrel/sandbox/policy"

// Seatbelt is the policy as a profile of macOS and the -D parameters, NAME=value, that it names.
func Seatbelt(p policy.Policy, t Tree, c Command) (profile string, params []string, err error) {
	return "", nil, nil
}
