package app

import "time"

// SandboxStatus is how the commands of a workspace are confined, and why not more strongly. Lists are
// cut at 200 entries.
type SandboxStatus struct {
	Mode  string        `json:"mode"` // read-only, workspace-write or danger-full-access
	On    bool          `json:"on"`   // commands of agents are confined
	Tier  string        `json:"tier,omitempty"`
	Why   string        `json:"why,omitempty"`  // it is not the strongest tier, or commands can't be confined
	Mend  string        `json:"mend,omitempty"` // what to do about that
	Tiers []SandboxTier `json:"tiers"`          // strongest first

	Network string `json:"network"` // allow, deny or allowlist
	// Allowed are the hosts of an allowlist; Registries says that nobody wrote a list, so that it is the
	// package registries.
	Allowed    []string `json:"allowed"`
	Registries bool     `json:"registries,omitempty"`
	Denied     []string `json:"denied"`
	// AllowPrivate are private networks that allowed names may lead to.
	AllowPrivate []string `json:"allowPrivate"`

	Write    []string       `json:"write"`    // folders that commands can change
	DenyRead []string       `json:"denyRead"` // what they can't read
	Caches   []SandboxCache `json:"caches"`
	SSHAgent bool           `json:"sshAgent,omitempty"`
	// Guards stay as they are inside of what can be written.
	Guards []SandboxGuard `json:"guards"`
	Temp   string         `json:"temp,omitempty"` // the commands' own folder for temporary files
	// Holds tells for whatever starts programs in the workspace which policy holds for it.
	Holds []Hold `json:"holds"`
}

// SandboxGuard is what commands can't change inside of the project, by the reason: it could later run
// outside of the sandbox.
type SandboxGuard struct {
	Why   string   `json:"why"` // a few words
	Names []string `json:"names"`
}

// SandboxPlan is what would confine a command of a workspace now.
type SandboxPlan struct {
	On   bool   `json:"on"`             // else there is nothing
	Why  string `json:"why,omitempty"`  // it can't be enforced, so that commands are refused
	Mend string `json:"mend,omitempty"` // what to do about that

	Unheld []string `json:"unheld"` // sentences: what of the policy the tier can't hold here
	Notes  []string `json:"notes"`  // sentences: what of the policy was left out, and why
	Text   string   `json:"text"`   // every step, at most 64 KiB
}

// SandboxTier is one way to confine commands. Name is A, B, C or seatbelt.
type SandboxTier struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"` // it works on this machine
	Why  string `json:"why,omitempty"`
	Mend string `json:"mend,omitempty"`
}

// SandboxCache is a package manager's folder. Mode is overlay (writes go to a private layer), write or
// off.
type SandboxCache struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
}

// NetworkDecisions are what the filtering proxy decided about a workspace's commands.
type NetworkDecisions struct {
	List []NetworkDecision `json:"list"` // newest first, at most 200
	Next []string          `json:"next"` // hosts that the next command may reach besides the listed ones
}

// NetworkDecision is one connection that was let through or refused.
type NetworkDecision struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Command string    `json:"command,omitempty"` // the one that asked; "" where nobody can tell
	Host    string    `json:"host"`
	Port    int       `json:"port,omitempty"` // 0: the target could not be read
	Method  string    `json:"method,omitempty"`
	Rule    string    `json:"rule"` // what decided
	Allowed bool      `json:"allowed"`
	Reason  string    `json:"reason,omitempty"` // a sentence, for a refusal
	// Grant is the entry that would let it pass; "" means that none would.
	Grant    string `json:"grant,omitempty"`
	Ended    bool   `json:"ended"`
	Sent     int64  `json:"sent"`     // bytes, once it ended
	Received int64  `json:"received"` // likewise
}

// AllowScope says how long an allowed host stays allowed.
type AllowScope string

// The scopes.
const (
	AllowNext    AllowScope = "next"    // for the workspace's next confined command
	AllowProject AllowScope = "project" // for the project, saved
)

// AllowHost allows a host that was refused: Host is the Grant of a decision.
type AllowHost struct {
	Workspace string     `json:"workspace"`
	Host      string     `json:"host"`
	Scope     AllowScope `json:"scope"`
}

// SwitchSandbox confines a workspace's commands or not, for as long as its conversation is open.
type SwitchSandbox struct {
	Workspace string `json:"workspace"`
	On        bool   `json:"on"`
}

// Quarantined is something that a command left which could have run outside of the sandbox.
type Quarantined struct {
	ID     string    `json:"id"`
	Path   string    `json:"path"` // where it was
	Kind   string    `json:"kind"`
	Reason string    `json:"reason"` // a sentence
	Time   time.Time `json:"time"`
	// Aside is its name in the folder where it was, for what could not be moved out of there.
	Aside string `json:"aside,omitempty"`
	// PutBack says that the file which it had replaced is back in its place.
	PutBack bool `json:"putBack,omitempty"`
}

// RestoreQuarantined puts something back to where it was.
type RestoreQuarantined struct {
	Workspace string `json:"workspace"`
	ID        string `json:"id"`
}

// SandboxSettings are the person's settings of the sandbox.
type SandboxSettings struct {
	Enabled bool   `json:"enabled"`
	Network string `json:"network"` // allow, deny or allowlist
	// Registries says that allowed_domains is left out: the package registries are allowed.
	Registries     bool     `json:"registries"`
	AllowedDomains []string `json:"allowedDomains"`
	DeniedDomains  []string `json:"deniedDomains"`
	// AllowPrivate are networks (10.20.0.0/16) and addresses that allowed names may lead to though they are private.
	AllowPrivate  []string `json:"allowPrivate"`
	DenyRead      []string `json:"denyRead"`
	AllowWrite    []string `json:"allowWrite"`
	AllowSSHAgent bool     `json:"allowSshAgent"`
	AutoAllow     bool     `json:"autoAllow"`
}

// SandboxChanged says that there is something new about a workspace's sandbox: decisions, a finding,
// or whether it is on.
type SandboxChanged struct {
	Workspace string `json:"workspace"`
}

// EventName is the name on the wire.
func (SandboxChanged) EventName() string { return "sandbox.changed" }

// Topic is the conversation's.
func (e SandboxChanged) Topic() string { return conversationTopic(e.Workspace) }
