// Package sandbox confines commands: what the rest of Carrel calls.
//
// A Box belongs to one workspace. Each command that it starts is held to the policy of that moment,
// by the strongest tier that the machine has, or by the one that was asked for. What can't be
// enforced is a *CannotEnforce, which says why and what would mend it; a command never runs with
// less than its policy and nothing is ever weakened in silence.
//
// Packages below: policy says what is allowed (data), plan turns it into exact steps (pure), jail
// executes them inside the helper program, landlock and seccomp are its tools. Nothing here imports
// anything of Carrel's outside this folder.
package sandbox
