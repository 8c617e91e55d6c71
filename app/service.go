// Package app is what a person can do with Carrel: one service per noun, plain structs whose
// methods take a context and at most one struct and return at most one value and an error.
//
// It knows no window, no HTTP and no command line. Hosts reach the services through carrel/app/wire;
// commands call them directly.
package app

// AddProject asks to add a folder.
type AddProject struct {
	Path string `json:"path"`
	Name string `json:"name,omitempty"` // default: the folder's name
}

// ByID names one thing.
type ByID struct {
	ID string `json:"id"`
}

// RelocateProject says that a project's folder has moved.
type RelocateProject struct {
	ID   string `json:"id"`
	Path string `json:"path"`
}

// SetTrust grants or revokes a project's trust.
type SetTrust struct {
	ID      string `json:"id"`
	Trusted bool   `json:"trusted"`
}

// NewWorkspace asks for a workspace.
type NewWorkspace struct {
	ProjectID string `json:"projectId"`
	Name      string `json:"name,omitempty"`    // default: made from Title, else two words
	Title     string `json:"title,omitempty"`   // default: the name
	Runtime   string `json:"runtime,omitempty"` // default: worktree in a git project, else local
	// Branch is the branch to work on: "" makes a new one named like the workspace; the name of an
	// existing one checks it out; any other name makes it.
	Branch string `json:"branch,omitempty"`
	Base   string `json:"base,omitempty"` // where a new branch starts; default: what the project has checked out
	// Detached checks Base out as it is now, on no branch. Branch must be empty.
	Detached bool   `json:"detached,omitempty"`
	Model    string `json:"model,omitempty"`
	Parent   string `json:"parent,omitempty"` // id of the workspace that it belongs to, of the same project
}

// Branches is what a new workspace can start from.
type Branches struct {
	Current  string   `json:"current"` // "" when detached or unborn
	Local    []string `json:"local"`
	Remote   []string `json:"remote"`
	HeldBy   []Held   `json:"heldBy"`   // branches that are checked out somewhere
	NoCommit bool     `json:"noCommit"` // the repository has none at all: projects.firstCommit makes one
}

// Held is a branch that is checked out.
type Held struct {
	Branch    string `json:"branch"`
	Dir       string `json:"dir"`
	Workspace string `json:"workspace,omitempty"` // id, when the folder is one of ours
}

// RenameWorkspace changes name (and with it folder and, if Carrel made it, branch) or title.
type RenameWorkspace struct {
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"`
	Title string `json:"title,omitempty"`
}

// AtRisk is work that exists nowhere else and that a deletion would lose.
type AtRisk struct {
	Clean     bool     `json:"clean"`   // nothing would be lost
	Unknown   string   `json:"unknown"` // why git could not tell; counts as not clean
	Changed   []string `json:"changed"` // capped at 50, as are the other lists
	Untracked []string `json:"untracked"`
	Commits   []string `json:"commits"` // subjects of commits that are on no other branch or remote
	Counts    Counts   `json:"counts"`
	Confirm   string   `json:"confirm"` // what the person must type: the workspace's name
}

// Counts are the true numbers behind the capped lists of AtRisk.
type Counts struct {
	Changed   int `json:"changed"`
	Untracked int `json:"untracked"`
	Commits   int `json:"commits"`
}

// SetBase names what a workspace is compared with: a branch, a remote's branch, a tag or a commit.
type SetBase struct {
	ID   string `json:"id"`
	Base string `json:"base"`
}

// DeleteWorkspace deletes a workspace. Unless its AtRisk is clean, Confirm must be the name.
type DeleteWorkspace struct {
	ID      string `json:"id"`
	Confirm string `json:"confirm,omitempty"`
	// KeepBranch keeps a branch that Carrel made; branches that existed before are always kept.
	KeepBranch bool `json:"keepBranch,omitempty"`
}

// RiskOfDeleting asks what a DeleteWorkspace with the same KeepBranch would lose.
type RiskOfDeleting struct {
	ID         string `json:"id"`
	KeepBranch bool   `json:"keepBranch,omitempty"`
}

// FindFiles asks for the files whose path has the letters of Query in their order, at most 1 KiB.
type FindFiles struct {
	ID    string `json:"id"`
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty"` // at most 50, which is the default
}

// FoundFiles are files that fit, best first, as paths from the workspace's folder. Ignored files are left
// out, and so are names that are no text or would show as another one.
type FoundFiles struct {
	Files []string `json:"files"`
	More  bool     `json:"more,omitempty"` // the workspace has more files than are searched (200,000)
}

// SetModel chooses a workspace's model and how hard it thinks. A nil field stays as it is.
type SetModel struct {
	Workspace string  `json:"workspace"`
	Model     *string `json:"model,omitempty"` // provider:id or an alias
	Level     *string `json:"level,omitempty"` // off to max, or 0 to 9; "" is the model's default
	Pro       *bool   `json:"pro,omitempty"`
	Cyber     *bool   `json:"cyber,omitempty"`
	// Once keeps Level from being what the model's next workspaces begin with.
	Once bool `json:"once,omitempty"`
}

// SetMode chooses how much runs without a question: ask, accept-edits, plan, auto or bypass; "" is as
// the settings say.
type SetMode struct {
	Workspace string `json:"workspace"`
	Mode      string `json:"mode"`
}

// AnswerQuestion answers a call that waits for the person.
type AnswerQuestion struct {
	Workspace string `json:"workspace"`
	Call      string `json:"call"`
	Answer    Answer `json:"answer"`
	Text      string `json:"text,omitempty"` // with no: for the model
	// Rules are those of the question that are to be saved, with always: all of its Always, or all of its
	// Broad. Left out, they are Always.
	Rules []string `json:"rules,omitempty"`
}

// GrantRules allows what the rules name.
type GrantRules struct {
	Workspace string   `json:"workspace"`
	Allow     []string `json:"allow"`
	Folders   []string `json:"folders,omitempty"` // absolute; confined commands may write there
}

// RevokeRule names a rule that a person saved: of a workspace's project or conversation, of a project, or,
// with neither, of the settings.
type RevokeRule struct {
	Workspace string `json:"workspace,omitempty"`
	Project   string `json:"project,omitempty"`
	// List is as in SavedRule; "" is allow or allow_outside, whichever has it.
	List string `json:"list"`
	Rule string `json:"rule"`
}

// SetSandbox chooses what holds commands: read-only, workspace-write or danger-full-access.
type SetSandbox struct {
	Workspace string `json:"workspace"`
	Mode      string `json:"mode"`
}

// SetAutoRetry chooses whether a workspace's failed requests are tried again by themselves.
type SetAutoRetry struct {
	Workspace string `json:"workspace"`
	On        bool   `json:"on"`
}

// ForkWorkspace asks for a workspace that goes on from another one's conversation. Uncommitted
// changes stay behind.
type ForkWorkspace struct {
	Workspace string `json:"workspace"`
	Name      string `json:"name"`
	Message   string `json:"message,omitempty"` // sent there at once
	// Entry is where the conversation is forked: its turn is the last that goes with it, or when it is a
	// message of the person, what is before it; the message is the draft then. "" is the end.
	Entry string `json:"entry,omitempty"`
}

// Forked is the workspace that a fork made.
type Forked struct {
	Workspace Workspace `json:"workspace"`
	// Unsent says why its first message was not sent; the message is its draft then.
	Unsent string `json:"unsent,omitempty"`
}

// SendMessage sends a message, or queues it while a turn runs. A text such as "/opus+high why?"
// chooses model and level for this message alone.
type SendMessage struct {
	Workspace string `json:"workspace"`
	Text      string `json:"text"`
	// ID makes sending twice harmless: one that waits, or is among the workspace's last 256 that were sent,
	// is not sent again. An older id is not known any more.
	ID       string   `json:"id,omitempty"`
	Dispatch Dispatch `json:"dispatch,omitempty"`
	Files    []Upload `json:"files,omitempty"` // at most 20; with files, Text may be empty
}

// Upload is a picture that goes with a message. Exactly one of ID, Blob and Data says which.
type Upload struct {
	Name string `json:"name,omitempty"`   // for people
	ID   string `json:"upload,omitempty"` // of what was uploaded over HTTP
	Blob string `json:"blob,omitempty"`   // a FileRef's: a message of the workspace has it already
	Data []byte `json:"data,omitempty"`   // base64, for small ones: a call has at most 8 MiB
}

// Uploaded is a picture that was uploaded, as models will get it.
type Uploaded struct {
	ID     string `json:"id"` // for Upload, for 24 hours
	Mime   string `json:"mime"`
	Size   int    `json:"size"` // bytes
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// EditQueued changes a queued message. A nil field stays as it is.
type EditQueued struct {
	Workspace string    `json:"workspace"`
	ID        string    `json:"id"`
	Text      *string   `json:"text,omitempty"`
	Dispatch  *Dispatch `json:"dispatch,omitempty"`
	Files     []Upload  `json:"files,omitzero"` // a list, also an empty one, replaces the files
}

// MoveQueued puts a queued message before another one; Before "" puts it last.
type MoveQueued struct {
	Workspace string `json:"workspace"`
	ID        string `json:"id"`
	Before    string `json:"before"`
}

// EditMessage replaces a past message of the person.
type EditMessage struct {
	Workspace string `json:"workspace"`
	Entry     string `json:"entry"` // the id of the user entry
	Text      string `json:"text"`
	ID        string `json:"id,omitempty"` // as in SendMessage
	// Files replaces the files, also by an empty list; when it is absent they stay.
	Files []Upload `json:"files,omitzero"`
}

// ClearConversation starts a conversation anew. Soft keeps showing what was said.
type ClearConversation struct {
	Workspace string `json:"workspace"`
	Soft      bool   `json:"soft,omitempty"`
}

// SetDraft keeps what the person is writing in a workspace, at most 1 MiB.
type SetDraft struct {
	Workspace string   `json:"workspace"`
	Text      string   `json:"text"`
	Files     []Upload `json:"files,omitempty"` // that were uploaded, at most 20
	// By is whatever tells the caller from other hosts; DraftChanged repeats it.
	By string `json:"by,omitempty"`
}

// QueueItem names a queued message.
type QueueItem struct {
	Workspace string `json:"workspace"`
	ID        string `json:"id"`
}

// PageRequest asks for entries by their Order: those older than Before (0: the newest), those from After
// on, or those around Around. Limit is at most 500.
type PageRequest struct {
	Workspace string `json:"workspace"`
	Before    uint64 `json:"before"`
	After     uint64 `json:"after,omitempty"`  // the step or message of that order is left out
	Around    uint64 `json:"around,omitempty"` // the step or message of that order is in the middle
	Limit     int    `json:"limit"`
}

// EntryRequest asks for one entry with its text uncut (at most 4 MiB).
type EntryRequest struct {
	Workspace string `json:"workspace"`
	Entry     string `json:"entry"`
}

// Page is a run of entries, oldest first.
type Page struct {
	Entries []Entry `json:"entries"`
	More    bool    `json:"more"` // older entries exist; not said of a page after an order
	// Newer says, of a page after or around an order, that newer entries exist.
	Newer bool `json:"newer,omitempty"`
}

// Settings are the person's preferences.
type Settings struct {
	Theme        string `json:"theme"`        // system, light or dark
	Density      string `json:"density"`      // comfortable or compact
	DefaultModel string `json:"defaultModel"` // provider:id; "" chooses the first available one
	// Keys are the keys of commands by their ids, in place of the usual ones.
	Keys map[string][]string `json:"keys,omitempty"`
	// Vim says whether the composer has Vim's modes; setting nil leaves it as it is.
	Vim *bool `json:"vim,omitempty"`
}

// About says what is running.
type About struct {
	Version  string    `json:"version"`
	Commit   string    `json:"commit"`
	OS       string    `json:"os"`
	Root     string    `json:"root"`
	Sandbox  string    `json:"sandbox"` // "none", "on", or "tier A" once the machine was tried
	Desktop  bool      `json:"desktop"` // a desktop window is attached
	Problems []Problem `json:"problems"`
	Home     string    `json:"home"` // of the user, for display of paths
}

// Check is one line of the doctor's report.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, warning or missing
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"` // what to do
}

// Folder is a folder that the person can choose as a project, for hosts without a native dialog.
type Folder struct {
	Path    string        `json:"path"`
	Parent  string        `json:"parent,omitempty"`
	Entries []FolderEntry `json:"entries"`
	Cut     bool          `json:"cut"` // more than 1,000 entries
}

// FolderEntry is a folder inside a Folder.
type FolderEntry struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	IsGit bool   `json:"isGit"`
}

// Diff is a workspace's change against its base.
type Diff struct {
	Base  string     `json:"base"`
	Files []DiffFile `json:"files"` // at most 300
	More  int        `json:"more"`  // files beyond that
}

// DiffFile is one changed file.
type DiffFile struct {
	Path    string `json:"path"`
	OldPath string `json:"oldPath,omitempty"`
	Status  string `json:"status"` // A, M, D, R, ? (untracked), U (conflict)
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary,omitempty"`
	Patch   string `json:"patch,omitempty"` // unified, without file header; capped at 64 KiB each
	Cut     bool   `json:"cut,omitempty"`
}

// DropFolders says that folders were dropped on a window.
type DropFolders struct {
	Paths []string `json:"paths"` // absolute
}

// Browse asks for the folders inside Path; "" means the user's home.
type Browse struct {
	Path string `json:"path"`
}

// ListWorkspaces chooses which workspaces to list.
type ListWorkspaces struct {
	Archived bool `json:"archived"` // the archived ones too
}

// ShowFile asks to show a file in its folder.
type ShowFile struct {
	Path string `json:"path"` // of an export
}

// OpenURL asks to open an address outside Carrel.
type OpenURL struct {
	URL string `json:"url"` // http, https or mailto
}

// PickedFolder is the answer of a native folder dialog.
type PickedFolder struct {
	Path      string `json:"path"`
	Cancelled bool   `json:"cancelled"`
}

// SetOutputLevel chooses the least level that is shown.
type SetOutputLevel struct {
	Level string `json:"level"`
}
