package app

import "time"

// Answer is what a person says to a call that needs consent.
type Answer string

// The answers.
const (
	AnswerOnce   Answer = "once"
	AnswerAlways Answer = "always" // for this project, saved
	AnswerNo     Answer = "no"
)

// Question is a call that waits for the person.
type Question struct {
	Call   string    `json:"call"`
	Entry  string    `json:"entry"` // id of the call's entry
	Tool   string    `json:"tool"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`         // a sentence
	Rule   string    `json:"rule,omitempty"` // the person's own rule that wants to be asked
	Rights []Right   `json:"rights"`         // what is missing, exactly
	// Always are the rules that would grant the same for good, Broad those that would grant what begins
	// like it, too. Without them that can't be granted, or is not safe.
	Always []string `json:"always,omitempty"`
	Broad  []string `json:"broad,omitempty"`
	// Outside says that the call would run out of the sandbox.
	Outside bool `json:"outside,omitempty"`
}

// Right is one thing that a call may not do yet. Kind is command, write, read, outside, tool or unclear.
type Right struct {
	Kind string `json:"kind"`
	What string `json:"what"`
}

// Permissions are mode, rules and sandbox of a workspace.
type Permissions struct {
	Mode    string           `json:"mode"`
	Modes   []string         `json:"modes"` // from the strictest to the loosest
	Rules   []PermissionRule `json:"rules"`
	Sandbox SandboxState     `json:"sandbox"`
}

// PermissionRule is a rule and where it is from.
type PermissionRule struct {
	List    string `json:"list"` // allow, ask, deny or allow_outside
	Rule    string `json:"rule"`
	From    string `json:"from"` // settings, project or session
	Problem string `json:"problem,omitempty"`
}

// SavedRule is something that a person allowed, asks for or denies for good, wherever it counts.
type SavedRule struct {
	Project string `json:"project,omitempty"` // id; "" for one of the settings, which counts everywhere
	Name    string `json:"name,omitempty"`    // the project's
	// List is allow, ask or deny; for a project also allow_outside, allowed_domains or allow_write.
	List    string `json:"list"`
	Rule    string `json:"rule"`
	File    string `json:"file"` // where it is written
	Problem string `json:"problem,omitempty"`
}

// SandboxState is how a workspace's commands are confined.
type SandboxState struct {
	Mode    string `json:"mode"` // read-only, workspace-write or danger-full-access
	On      bool   `json:"on"`   // commands of agents are confined
	Tier    string `json:"tier,omitempty"`
	Why     string `json:"why,omitempty"`  // it is not tier A
	Mend    string `json:"mend,omitempty"` // what to do about that
	Network string `json:"network"`
}
