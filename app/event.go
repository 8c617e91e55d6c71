package app

// Event is something that changed. Hosts get events in order, each with a sequence number that the
// wire adds. The TypeScript union is generated from the types that implement it.
type Event interface {
	// EventName is the event's name on the wire, such as "workspace.changed".
	EventName() string
	// Topic is "" for events that every host gets, else the topic a host must have joined:
	// "conversation/<workspace id>".
	Topic() string
}

// ProjectChanged says that a project is new or changed.
type ProjectChanged struct {
	Project Project `json:"project"`
}

// ProjectRemoved says that a project is gone.
type ProjectRemoved struct {
	ID string `json:"id"`
}

// WorkspaceChanged says that a workspace is new or changed.
type WorkspaceChanged struct {
	Workspace Workspace `json:"workspace"`
}

// WorkspaceRemoved says that a workspace is gone.
type WorkspaceRemoved struct {
	ID string `json:"id"`
}

// SettingsChanged says that settings, keys or the list of models changed.
type SettingsChanged struct{}

// ProblemAppeared says that something needs the person's eyes, such as a corrupt file kept aside.
type ProblemAppeared struct {
	Problem Problem `json:"problem"`
}

// Events of one conversation carry its revision, which grows with each. A host joins the topic,
// keeps the events that come, opens the conversation, drops the events whose Rev is not above the
// snapshot's and applies the rest.

// EntryChanged says that an entry of a conversation is new or changed; it carries the whole entry.
type EntryChanged struct {
	Workspace string `json:"workspace"`
	Rev       uint64 `json:"rev"`
	Entry     Entry  `json:"entry"`
}

// EntryGrew says that text was appended to an entry: to Text of a text or reasoning entry, to
// Tool.Input of a pending call, to Tool.Output of a running one. At is the length in UTF-16 code
// units of the field before, so that a host notices when it missed something and asks for the
// entry. The wire merges growths that wait: Rev is then the last one's and At the first one's, so a
// host sets the field to field.slice(0, at) + text.
type EntryGrew struct {
	Workspace string `json:"workspace"`
	Rev       uint64 `json:"rev"`
	Entry     string `json:"entry"`
	Field     string `json:"field"` // text, input or output
	At        int    `json:"at"`
	Text      string `json:"text"`
}

// EntriesRemoved says that entries are gone, such as the partial response of a failed attempt.
type EntriesRemoved struct {
	Workspace string   `json:"workspace"`
	Rev       uint64   `json:"rev"`
	IDs       []string `json:"ids"`
}

// EntriesReplaced says that what was shown of a conversation is not what it is any more: a past message
// was edited, or the conversation was cleared. Hosts take a new snapshot.
type EntriesReplaced struct {
	Workspace string `json:"workspace"`
	Rev       uint64 `json:"rev"`
}

// ConversationChanged says that the status of a conversation changed.
type ConversationChanged struct {
	Workspace string `json:"workspace"`
	Rev       uint64 `json:"rev"`
	Status    Status `json:"status"`
}

// DraftChanged says what the person is writing now. The host that said so gets it too: its By tells.
type DraftChanged struct {
	Workspace string   `json:"workspace"`
	Text      string   `json:"text"`
	Files     []Upload `json:"files,omitempty"`
	By        string   `json:"by,omitempty"`
}

// InitOutput is a piece of the init hook's output.
type InitOutput struct {
	Workspace string `json:"workspace"`
	Text      string `json:"text"`
}

// FoldersDropped says that folders were dropped on a window and became projects; hosts offer a
// workspace in the first.
type FoldersDropped struct {
	Projects []Project `json:"projects"`
	Problems []string  `json:"problems"`           // one sentence for each path that could not be added
	Pictures []Upload  `json:"pictures,omitempty"` // files that were dropped beside or instead of folders, uploaded
}

// Problem is something that needs the person's eyes.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"` // what happened and what to do
	Path    string `json:"path,omitempty"`
}

func conversationTopic(workspace string) string { return "conversation/" + workspace }

// OutputGrew brings lines that the core logged since the last such event, the oldest first. Their
// sequences have a gap where more came than hosts are told: at most 500 at once.
type OutputGrew struct {
	Lines []OutputLine `json:"lines"`
}

// OutputCleared says that the lines so far were cleared, on somebody's wish.
type OutputCleared struct{}

func (ProjectChanged) EventName() string      { return "project.changed" }
func (ProjectRemoved) EventName() string      { return "project.removed" }
func (WorkspaceChanged) EventName() string    { return "workspace.changed" }
func (WorkspaceRemoved) EventName() string    { return "workspace.removed" }
func (SettingsChanged) EventName() string     { return "settings.changed" }
func (ProblemAppeared) EventName() string     { return "problem.appeared" }
func (EntryChanged) EventName() string        { return "entry.changed" }
func (EntryGrew) EventName() string           { return "entry.grew" }
func (EntriesRemoved) EventName() string      { return "entry.removed" }
func (EntriesReplaced) EventName() string     { return "entry.replaced" }
func (ConversationChanged) EventName() string { return "conversation.changed" }
func (DraftChanged) EventName() string        { return "draft.changed" }
func (InitOutput) EventName() string          { return "init.output" }
func (FoldersDropped) EventName() string      { return "folders.dropped" }
func (OutputGrew) EventName() string          { return "output.grew" }
func (OutputCleared) EventName() string       { return "output.cleared" }

func (ProjectChanged) Topic() string        { return "" }
func (ProjectRemoved) Topic() string        { return "" }
func (WorkspaceChanged) Topic() string      { return "" }
func (WorkspaceRemoved) Topic() string      { return "" }
func (SettingsChanged) Topic() string       { return "" }
func (ProblemAppeared) Topic() string       { return "" }
func (FoldersDropped) Topic() string        { return "" }
func (OutputGrew) Topic() string            { return outputTopic }
func (OutputCleared) Topic() string         { return outputTopic }
func (e EntryChanged) Topic() string        { return conversationTopic(e.Workspace) }
func (e EntryGrew) Topic() string           { return conversationTopic(e.Workspace) }
func (e EntriesRemoved) Topic() string      { return conversationTopic(e.Workspace) }
func (e EntriesReplaced) Topic() string     { return conversationTopic(e.Workspace) }
func (e ConversationChanged) Topic() string { return conversationTopic(e.Workspace) }
func (e DraftChanged) Topic() string        { return conversationTopic(e.Workspace) }
func (e InitOutput) Topic() string          { return conversationTopic(e.Workspace) }
