package app

import "time"

// The types in this file are what hosts see. The TypeScript client is generated from them: a named
// string type with constants becomes a union, a pointer or omitempty field becomes optional.

// Project is a folder that the person added. Of two copies the one with the greater Rev is newer;
// the same holds for Workspace.
type Project struct {
	Rev     uint64    `json:"rev"`
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Path    string    `json:"path"`
	IsGit   bool      `json:"isGit"`
	Trusted bool      `json:"trusted"`
	Missing bool      `json:"missing"` // the folder is not there
	Branch  string    `json:"branch"`  // checked out in the folder itself; "" when detached or without git
	AddedAt time.Time `json:"addedAt"`
	// Position is where the person put it, from 1; 0: nowhere, so that it comes after those, by name.
	Position int `json:"position"`
	// Automation lists what would run from the repository once it is trusted.
	Automation []string `json:"automation,omitempty"`
}

// Activity is what a workspace's conversation is doing.
type Activity string

// The activities, as the sidebar shows them.
const (
	Idle         Activity = "idle"
	Preparing    Activity = "preparing"
	Streaming    Activity = "streaming"
	RunningTools Activity = "running_tools"
	Interrupting Activity = "interrupting"
	// Retrying waits to try a failed request again; Recovering does so for one from before a restart.
	Retrying    Activity = "retrying"
	Recovering  Activity = "recovering"
	Waiting     Activity = "waiting" // for the person
	Interrupted Activity = "interrupted"
	Failed      Activity = "failed"
	Done        Activity = "done" // ended since the person last looked
)

// Health is the state of a workspace's place.
type Health string

// The healths of a place.
const (
	Ready       Health = "ready"
	Creating    Health = "creating"
	DirMissing  Health = "missing"      // the folder was deleted by hand
	NotWorktree Health = "not_worktree" // .git is gone or points elsewhere
	Broken      Health = "broken"
)

// Workspace is one desk.
type Workspace struct {
	Rev        uint64     `json:"rev"`
	ID         string     `json:"id"`
	ProjectID  string     `json:"projectId"`
	Name       string     `json:"name"`
	Title      string     `json:"title"`
	Runtime    string     `json:"runtime"` // local or worktree
	Branch     string     `json:"branch"`  // chosen at creation; Git.Branch is what is checked out now
	Base       string     `json:"base"`
	Dir        string     `json:"dir"`
	Model      string     `json:"model"` // provider:id
	Level      string     `json:"level"` // how hard the model thinks; "" is its default
	Pro        bool       `json:"pro,omitempty"`
	Mode       string     `json:"mode"`      // how much runs without a question: ask, accept-edits, plan, auto or bypass
	AutoRetry  bool       `json:"autoRetry"` // failed requests are tried again by themselves
	Health     Health     `json:"health"`
	HealthNote string     `json:"healthNote,omitempty"` // what is wrong and what to do
	Activity   Activity   `json:"activity"`
	Init       InitState  `json:"init"`
	InitCode   *int       `json:"initCode,omitempty"` // the init hook's exit code, once it has run to its end
	Git        *GitState  `json:"git,omitempty"`
	CreatedAt  time.Time  `json:"createdAt"`
	ActiveAt   time.Time  `json:"activeAt"`
	ArchivedAt *time.Time `json:"archivedAt,omitempty"`
	// Parent is the id of the workspace that it belongs to, which may be gone.
	Parent string `json:"parent,omitempty"`
	Pinned bool   `json:"pinned,omitempty"` // kept above all projects
	// Position is where the person put it among its siblings, from 1; 0: nowhere, so that it comes before
	// those, the newest first.
	Position int `json:"position"`
	// Unread says that a turn ended, well or not, since the person last looked, or that the person left it so.
	Unread bool `json:"unread,omitempty"`
	// Elsewhere is true while another process (carrel run) works in it.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// InitState is how far the init hook is.
type InitState string

// The states of the init hook.
const (
	InitNone    InitState = "none"
	InitRunning InitState = "running"
	InitDone    InitState = "done"
	InitFailed  InitState = "failed"
	InitSkipped InitState = "skipped" // the project is not trusted
)

// GitState is what git says of a workspace.
type GitState struct {
	Branch     string `json:"branch"` // "" when detached
	Detached   bool   `json:"detached,omitempty"`
	Unborn     bool   `json:"unborn,omitempty"` // no commit yet
	Head       string `json:"head"`             // full commit id
	Subject    string `json:"subject"`          // of the last commit
	CommitTime string `json:"commitTime,omitempty"`
	Upstream   string `json:"upstream,omitempty"`
	Ahead      int    `json:"ahead"`  // commits that the base does not have
	Behind     int    `json:"behind"` // commits of the base that are missing here
	Staged     int    `json:"staged"`
	Unstaged   int    `json:"unstaged"`
	Untracked  int    `json:"untracked"`
	Conflicts  int    `json:"conflicts"`
	Added      int    `json:"added"`               // lines against the base, uncommitted ones and untracked files included: the sum of Diff's
	Removed    int    `json:"removed"`             // likewise
	Uncounted  bool   `json:"uncounted,omitempty"` // Added leaves untracked files out: there are too many
	InProgress string `json:"inProgress,omitempty"`
	Error      string `json:"error,omitempty"` // git could not tell; the rest is what was last known
}

// EntryKind says what an Entry shows.
type EntryKind string

// The kinds of an Entry.
const (
	EntryUser      EntryKind = "user"
	EntryAssistant EntryKind = "assistant" // text, reasoning or a failed call's notice: see Part
	EntryTool      EntryKind = "tool"
	EntryNote      EntryKind = "note"
	EntryTurnEnd   EntryKind = "turn_end" // only for turns that did not end well
	// EntryBoundary is where the model's memory begins: Code is clear, reset or fork.
	EntryBoundary EntryKind = "boundary"
)

// ToolStatus is the state of a tool call.
type ToolStatus string

// The states of a tool call.
const (
	ToolPending     ToolStatus = "pending" // its arguments are still streaming
	ToolRunning     ToolStatus = "running"
	ToolOK          ToolStatus = "ok"
	ToolFailed      ToolStatus = "failed"
	ToolInterrupted ToolStatus = "interrupted"
)

// Entry is one row of a conversation: a message of the person, a run of text or reasoning, a tool
// call. Ids are stable over restarts and ordered: a later entry has a greater Order.
type Entry struct {
	ID    string    `json:"id"`
	Order uint64    `json:"order"`
	Kind  EntryKind `json:"kind"`
	Time  time.Time `json:"time"`
	Turn  string    `json:"turn,omitempty"`

	Text      string `json:"text,omitempty"` // Markdown for assistant and note; plain for user
	Reasoning bool   `json:"reasoning,omitempty"`
	Live      bool   `json:"live,omitempty"` // still growing
	Level     string `json:"level,omitempty"`
	Code      string `json:"code,omitempty"` // turn_end: a stable error code
	Model     string `json:"model,omitempty"`
	Via       string `json:"via,omitempty"` // "coder:provider/model": Coder's gateway stood between
	// Once is, on a user entry, the model and level that this message alone asked for, such as
	// "anthropic:claude-opus-5-5+high".
	Once string `json:"once,omitempty"`
	// Usage is what the response cost, on its first entry.
	Usage   *MessageUsage `json:"usage,omitempty"`
	Sources []Source      `json:"sources,omitempty"` // that a text cites, at most 50
	Files   []FileRef     `json:"files,omitempty"`   // attached to a user entry

	Tool *ToolEntry `json:"tool,omitempty"`
}

// MessageUsage is what one response used, in tokens, and cost.
type MessageUsage struct {
	Input      int64    `json:"input"`
	Output     int64    `json:"output"`
	CacheRead  int64    `json:"cacheRead"`
	CacheWrite int64    `json:"cacheWrite"`
	USD        *float64 `json:"usd,omitempty"` // absent: no known price
}

// Source is a page that a text cites.
type Source struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// FileRef is a file that came with a message.
type FileRef struct {
	Name string `json:"name,omitempty"`
	Mime string `json:"mime"`
	Blob string `json:"blob,omitempty"` // its name for GET /blob/WORKSPACE/BLOB and for Upload
}

// ToolEntry is a tool call and its outcome.
type ToolEntry struct {
	Name    string      `json:"name"`
	Status  ToolStatus  `json:"status"`
	Input   string      `json:"input"`            // JSON text as the model wrote it, maybe incomplete; capped at 64 KiB
	Output  string      `json:"output,omitempty"` // what the model got, as text; capped at 64 KiB
	Detail  *ToolDetail `json:"detail,omitempty"`
	Started *time.Time  `json:"started,omitempty"`
	// Asks says that the call waits for the person's consent.
	Asks bool `json:"asks,omitempty"`
}

// ToolDetail is what a person is shown beside input and output; see carrel/agent/tool.Detail.
type ToolDetail struct {
	ExitCode   *int   `json:"exitCode,omitempty"`
	DurationMS int64  `json:"durationMs,omitempty"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	SpillPath  string `json:"spillPath,omitempty"`
	Omitted    int64  `json:"omitted,omitempty"`
	Screen     string `json:"screen,omitempty"` // the end of the output with colours (SGR) and carriage returns, at most 32 KiB
	Diff       string `json:"diff,omitempty"`
	Added      int    `json:"added,omitempty"`
	Removed    int    `json:"removed,omitempty"`
	FirstLine  int    `json:"firstLine,omitempty"`
	LastLine   int    `json:"lastLine,omitempty"`
	TotalLines int    `json:"totalLines,omitempty"`
	Todos      []Todo `json:"todos,omitempty"`
}

// Todo is one entry of the todo list.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// Dispatch says when a message that is sent during a turn reaches the model.
type Dispatch string

// The dispatches.
const (
	AfterStep Dispatch = "step" // with the turn's next request; the default
	AfterTurn Dispatch = "turn" // when the turn has ended
)

// Queued is a message that waits.
type Queued struct {
	ID       string    `json:"id"`
	Text     string    `json:"text"`
	Cut      bool      `json:"cut,omitempty"` // Text is only the beginning: Conversations.Queued has the rest
	Time     time.Time `json:"time"`
	Dispatch Dispatch  `json:"dispatch"`
	Once     string    `json:"once,omitempty"` // as in Entry
	Files    []FileRef `json:"files,omitempty"`
}

// RetryWait is a failed request that will be tried again at At.
type RetryWait struct {
	At      time.Time `json:"at"`
	Attempt int       `json:"attempt"` // the one to come; 0 while the provider is given a rest
	Of      int       `json:"of"`
	Code    string    `json:"code"`
	Reason  string    `json:"reason"`
}

// Conversation is a snapshot of a workspace's conversation.
type Conversation struct {
	Rev       uint64  `json:"rev"`
	Workspace string  `json:"workspace"`
	Entries   []Entry `json:"entries"` // the newest, oldest first
	More      bool    `json:"more"`    // older entries exist
	Status    Status  `json:"status"`
	Damaged   int     `json:"damaged,omitempty"` // lines of the log that could not be read
	Draft     string  `json:"draft,omitempty"`   // what the person was writing
	// DraftFiles are the pictures that were attached to the draft.
	DraftFiles []Upload `json:"draftFiles,omitempty"`
}

// Status is a conversation without its entries.
type Status struct {
	Activity Activity   `json:"activity"`
	Queue    []Queued   `json:"queue"`
	Held     bool       `json:"held"` // the queue waits for the person, after a restart or a failure
	Todos    []Todo     `json:"todos"`
	Model    string     `json:"model"` // provider:id of the turns to come
	Level    string     `json:"level"` // likewise; "" is the model's default
	Pro      bool       `json:"pro,omitempty"`
	Cyber    bool       `json:"cyber,omitempty"`
	Retry    *RetryWait `json:"retry,omitempty"`
	// Question is what the activity waiting waits for.
	Question *Question `json:"question,omitempty"`
	Usage    Usage     `json:"usage"`
}

// Usage is what a conversation has used, in tokens, and cost.
type Usage struct {
	Input      int64    `json:"input"`
	Output     int64    `json:"output"`
	CacheRead  int64    `json:"cacheRead"`
	CacheWrite int64    `json:"cacheWrite"`
	Context    int64    `json:"context"`             // of the next request; an estimate between responses
	Window     int64    `json:"window,omitempty"`    // what the model can take; absent: unknown
	SpentUSD   float64  `json:"spentUsd"`            // as far as prices are known, sub-agents included
	BudgetUSD  *float64 `json:"budgetUsd,omitempty"` // of the workspace
}

// Output is what the core logged lately.
type Output struct {
	Lines []OutputLine `json:"lines"` // the oldest first, at most 2,000, of every level
	Level string       `json:"level"` // the least that is shown: debug, info, warn or error
	File  string       `json:"file"`  // the log file, which has no debug lines; "" when there is none
}

// OutputLine is one line of the log.
type OutputLine struct {
	Seq   uint64    `json:"seq"` // grows with each line
	Time  time.Time `json:"time"`
	Level string    `json:"level"` // debug, info, warn or error
	Text  string    `json:"text"`
	Attrs string    `json:"attrs,omitempty"` // key=value, for example workspace=...
}
