package app

import "context"

// API is everything that a host can call, one interface per noun. A call's name on the wire is
// lowerFirst(field) + "." + lowerFirst(method), such as "projects.add"; package wire reflects over
// the interfaces, and the TypeScript client is generated from them. A method takes a context and at
// most one struct, and returns at most one value and an error.
type API struct {
	Projects      ProjectsAPI
	Workspaces    WorkspacesAPI
	Conversations ConversationsAPI
	Permissions   PermissionsAPI
	Sandbox       SandboxAPI
	Settings      SettingsAPI
	System        SystemAPI
	Costs         CostsAPI
	Search        SearchAPI
	Terminals     TerminalsAPI
	Output        OutputAPI
}

// ProjectsAPI is what a person can do with projects.
type ProjectsAPI interface {
	// List returns every project, by name.
	List(ctx context.Context) ([]Project, error)
	// Add adds a folder, or returns the project that has it already.
	Add(ctx context.Context, args AddProject) (Project, error)
	// Sample makes a small repository in the person's home folder and adds it, to try things on; once.
	Sample(ctx context.Context) (Project, error)
	// Remove forgets a project; its folder stays as it is.
	Remove(ctx context.Context, args ByID) error
	// Relocate says where a project's folder has moved to.
	Relocate(ctx context.Context, args RelocateProject) (Project, error)
	// Move puts a project before another one.
	Move(ctx context.Context, args MoveBefore) error
	// SetTrust grants or revokes trust; nothing from an untrusted repository runs by itself.
	SetTrust(ctx context.Context, args SetTrust) (Project, error)
	// FirstCommit makes an empty first commit in a repository that has none, so that worktrees can be made.
	FirstCommit(ctx context.Context, args ByID) (Project, error)
	// Branches lists what a new workspace of the project can start from.
	Branches(ctx context.Context, args ByID) (Branches, error)
	// Drop adds folders that were dropped on a window; every host hears of it by folders.dropped.
	Drop(ctx context.Context, args DropFolders) error
	// Browse lists the folders inside a folder, for hosts without a native dialog.
	Browse(ctx context.Context, args Browse) (Folder, error)
}

// WorkspacesAPI is what a person can do with workspaces.
type WorkspacesAPI interface {
	// List returns the workspaces, newest activity first.
	List(ctx context.Context, args ListWorkspaces) ([]Workspace, error)
	// Create makes a workspace; it returns once its place exists, while the init hook goes on.
	Create(ctx context.Context, args NewWorkspace) (Workspace, error)
	// Rename changes name or title.
	Rename(ctx context.Context, args RenameWorkspace) (Workspace, error)
	// SetBase changes the branch, tag or commit that the workspace's changes are counted against.
	SetBase(ctx context.Context, args SetBase) (Workspace, error)
	// Archive hides a workspace and stops what works in it.
	Archive(ctx context.Context, args ByID) (Workspace, error)
	// Unarchive brings an archived workspace back.
	Unarchive(ctx context.Context, args ByID) (Workspace, error)
	// AtRisk lists the work that deleting the workspace would lose.
	AtRisk(ctx context.Context, args RiskOfDeleting) (AtRisk, error)
	// Delete deletes a workspace and its worktree.
	Delete(ctx context.Context, args DeleteWorkspace) error
	// Repair restores a missing or broken place.
	Repair(ctx context.Context, args ByID) error
	// SetModel chooses the model of the workspace's next turn and how hard it thinks.
	SetModel(ctx context.Context, args SetModel) error
	// SetAutoRetry says whether failed requests are tried again by themselves.
	SetAutoRetry(ctx context.Context, args SetAutoRetry) error
	// Fork makes a workspace with a copy of the conversation, its branch at the commit checked out now.
	Fork(ctx context.Context, args ForkWorkspace) (Forked, error)
	// Pin keeps a workspace above all projects, or puts it back.
	Pin(ctx context.Context, args PinWorkspace) (Workspace, error)
	// Move puts a workspace before another one of its siblings.
	Move(ctx context.Context, args MoveBefore) error
	// MarkUnseen leaves a workspace unread, as if a turn had ended in it.
	MarkUnseen(ctx context.Context, args ByID) error
	// MarkSeen says that the person looked, so that done becomes idle.
	MarkSeen(ctx context.Context, args ByID) error
	// Diff returns the workspace's change against its base, uncommitted work included.
	Diff(ctx context.Context, args ByID) (Diff, error)
	// Files finds files of a workspace by some letters of their path, for completion.
	Files(ctx context.Context, args FindFiles) (FoundFiles, error)
	// InitLog returns the output of the init hook, capped at 1 MiB.
	InitLog(ctx context.Context, args ByID) (string, error)
	// RetryInit runs the init hook again.
	RetryInit(ctx context.Context, args ByID) error
	// RefreshGit asks git again instead of waiting for the watcher.
	RefreshGit(ctx context.Context, args ByID) error
}

// ConversationsAPI is what a person can do in a conversation.
type ConversationsAPI interface {
	// Open returns a snapshot of a workspace's conversation. Join its topic first, then open, then
	// apply the events that came meanwhile.
	Open(ctx context.Context, args ByID) (Conversation, error)
	// Page returns older entries.
	Page(ctx context.Context, args PageRequest) (Page, error)
	// Entry returns one entry with its text uncut.
	Entry(ctx context.Context, args EntryRequest) (Entry, error)
	// Send sends a message, or queues it while a turn runs; it returns once the message is on disk.
	Send(ctx context.Context, args SendMessage) error
	// Interrupt stops the turn and what it runs.
	Interrupt(ctx context.Context, args ByID) error
	// RemoveQueued takes a message out of the queue.
	RemoveQueued(ctx context.Context, args QueueItem) error
	// Queued returns one queued message with its text uncut.
	Queued(ctx context.Context, args QueueItem) (Queued, error)
	// EditQueued changes a queued message.
	EditQueued(ctx context.Context, args EditQueued) error
	// MoveQueued puts a queued message before another one.
	MoveQueued(ctx context.Context, args MoveQueued) error
	// EditMessage replaces a past message of the person and answers it anew. What followed it is
	// left out of the conversation but not erased; what tools changed on disk stays as it is.
	EditMessage(ctx context.Context, args EditMessage) error
	// Retry tries again at once: it ends the wait, or repeats the failed or interrupted turn.
	Retry(ctx context.Context, args ByID) error
	// StopRetry gives up the wait for the next attempt.
	StopRetry(ctx context.Context, args ByID) error
	// Clear starts the conversation anew; the log keeps what was said.
	Clear(ctx context.Context, args ClearConversation) error
	// Find looks for a text in the whole conversation.
	Find(ctx context.Context, args FindInConversation) (FoundEntries, error)
	// Raw returns the records of the log that an entry was made of.
	Raw(ctx context.Context, args EntryRequest) (RawEntry, error)
	// StartHere makes an answer all that models know of the conversation from now on.
	StartHere(ctx context.Context, args EntryRequest) error
	// UndoStart takes StartHere back, as long as nothing was said since; the entry is the boundary.
	UndoStart(ctx context.Context, args EntryRequest) error
	// SetDraft keeps what the person is writing.
	SetDraft(ctx context.Context, args SetDraft) error
	// SetMode says how much runs without a question; "" is as the settings say.
	SetMode(ctx context.Context, args SetMode) error
	// Release lets a held queue go on.
	Release(ctx context.Context, args ByID) error
	// Export gives the conversation as a document of at most 32 MiB.
	Export(ctx context.Context, args ExportConversation) (Exported, error)
	// SaveExport writes it into the person's folder of downloads, for a window that saves no files itself.
	SaveExport(ctx context.Context, args ExportConversation) (SavedExport, error)
}

// PermissionsAPI is about what agents may do without a question.
type PermissionsAPI interface {
	// Get tells mode, rules and sandbox of a workspace.
	Get(ctx context.Context, args ByID) (Permissions, error)
	// Answer lets a call run that waits for the person, or refuses it.
	Answer(ctx context.Context, args AnswerQuestion) error
	// Grant allows what rules name, and writing in folders, for as long as the conversation is open.
	Grant(ctx context.Context, args GrantRules) error
	// Saved lists what was allowed, asked for and denied for good, of the settings and of all projects.
	Saved(ctx context.Context) ([]SavedRule, error)
	// Revoke takes back what was saved, or what was allowed for as long as the conversation is open.
	Revoke(ctx context.Context, args RevokeRule) error
	// SetSandbox says how commands are confined for as long as the conversation is open; "" is as the
	// settings say.
	SetSandbox(ctx context.Context, args SetSandbox) error
}

// SandboxAPI is about what confines the commands of agents.
type SandboxAPI interface {
	// Status tells how a workspace's commands are confined, and by which policy.
	Status(ctx context.Context, args ByID) (SandboxStatus, error)
	// Plan tells every step that would confine a command of a workspace now, and what can't be held.
	Plan(ctx context.Context, args ByID) (SandboxPlan, error)
	// Decisions lists what the filtering proxy decided lately about a workspace's commands.
	Decisions(ctx context.Context, args ByID) (NetworkDecisions, error)
	// Allow lets commands reach a host that was refused; they are not run again by themselves.
	Allow(ctx context.Context, args AllowHost) error
	// Set switches the sandbox of a workspace on or off for as long as its conversation is open.
	Set(ctx context.Context, args SwitchSandbox) error
	// Quarantine lists what a workspace's commands left that could have run outside, newest first.
	Quarantine(ctx context.Context, args ByID) ([]Quarantined, error)
	// Restore puts something out of quarantine back to where it was.
	Restore(ctx context.Context, args RestoreQuarantined) error
	// Settings returns the person's settings of the sandbox.
	Settings(ctx context.Context) (SandboxSettings, error)
	// SetSettings changes them.
	SetSettings(ctx context.Context, args SandboxSettings) error
}

// SettingsAPI reads and changes the person's preferences.
type SettingsAPI interface {
	// Get returns the preferences.
	Get(ctx context.Context) (Settings, error)
	// Set changes the preferences; the keys are changed by Put.
	Set(ctx context.Context, args Settings) error
	// Values lists every value of settings.jsonc, and where it comes from.
	Values(ctx context.Context) (SettingsView, error)
	// Put changes one value of settings.jsonc, or takes it back; comments there stay.
	Put(ctx context.Context, args PutSetting) error
	// Models lists the models that can be chosen.
	Models(ctx context.Context) ([]Model, error)
	// Model describes one model, also one that is not listed, by provider:id or a short name; "" is the default.
	Model(ctx context.Context, args ByID) (Model, error)
	// Providers lists the model providers and whether they are configured.
	Providers(ctx context.Context) ([]Provider, error)
	// SetProvider changes a provider's settings.
	SetProvider(ctx context.Context, args SetProvider) error
	// AddProvider adds a custom provider.
	AddProvider(ctx context.Context, args AddProvider) error
	// RemoveProvider forgets the settings of a provider, its key too.
	RemoveProvider(ctx context.Context, args ByID) error
	// TestProvider makes a small call and says what is wrong and how to mend it.
	TestProvider(ctx context.Context, args ByID) (ProviderTest, error)
	// SuggestModels asks a provider which models it has.
	SuggestModels(ctx context.Context, args ByID) ([]Suggestion, error)
	// AddModel adds a model to those that can be chosen.
	AddModel(ctx context.Context, args ByID) error
	// RemoveModel takes a model that a person added out of the list.
	RemoveModel(ctx context.Context, args ByID) error
	// Fallbacks lists which models are asked when one refuses.
	Fallbacks(ctx context.Context) ([]Fallback, error)
	// SetFallback changes which models are asked when one refuses; none removes the chain.
	SetFallback(ctx context.Context, args Fallback) error
	// Coder tells how the Coder deployment is connected.
	Coder(ctx context.Context) (CoderState, error)
	// LoginCoder begins a login at a Coder deployment: the person approves it in the browser.
	LoginCoder(ctx context.Context, args LoginCoder) (CoderLogin, error)
	// CancelCoder gives up a login that waits.
	CancelCoder(ctx context.Context, args ByID) error
	// AwaitCoder returns when a login has been approved, or failed.
	AwaitCoder(ctx context.Context, args ByID) (CoderState, error)
	// LogoutCoder revokes the login and forgets it; models that a person added stay.
	LogoutCoder(ctx context.Context) (CoderState, error)
	// RefreshCoder asks the deployment for its providers again.
	RefreshCoder(ctx context.Context) (CoderState, error)
	// LoadCoderCatalog loads the models of all of the deployment's providers.
	LoadCoderCatalog(ctx context.Context) (CoderState, error)
	// SetCoderRoute says which of the deployment's providers serves the models of a native one.
	SetCoderRoute(ctx context.Context, args SetCoderRoute) (CoderState, error)
	// SetModelRoute says whether one model goes through Coder.
	SetModelRoute(ctx context.Context, args SetModelRoute) error
}

// CostsAPI is about what models cost.
type CostsAPI interface {
	// Summary sums up what was spent.
	Summary(ctx context.Context, args CostQuery) (CostSummary, error)
	// SetBudget limits what a workspace, sub-agents included, may spend; its turn stops there.
	SetBudget(ctx context.Context, args SetBudget) error
}

// SearchAPI finds what was said in any workspace.
type SearchAPI interface {
	// Find looks for words in all conversations, the newest first.
	Find(ctx context.Context, args FindText) (Found, error)
}

// OutputAPI is about what the core logs.
type OutputAPI interface {
	// Read returns the newest lines, which are kept in memory. A host joins the topic "output" first, and
	// drops what events bring again.
	Read(ctx context.Context) (Output, error)
	// SetLevel chooses the least level that is shown, for all hosts.
	SetLevel(ctx context.Context, args SetOutputLevel) error
	// Clear forgets the lines and empties the log file.
	Clear(ctx context.Context) error
	// OpenFile opens the log file in the program that the person has for it, on the attached window's screen.
	OpenFile(ctx context.Context) error
}

// SystemAPI is about this machine and the attached window.
type SystemAPI interface {
	// About says what is running.
	About(ctx context.Context) (About, error)
	// Doctor says what works on this machine and how to mend the rest.
	Doctor(ctx context.Context) ([]Check, error)
	// Layout returns what a kind of window last showed.
	Layout(ctx context.Context, args LayoutOf) (Layout, error)
	// SetLayout keeps what a kind of window shows, for its next start.
	SetLayout(ctx context.Context, args Layout) error
	// PickFolder opens the native folder dialog of the attached window.
	PickFolder(ctx context.Context) (PickedFolder, error)
	// Raise brings the attached window to the front.
	Raise(ctx context.Context) error
	// AtStake lists the work that runs, for a person who is about to quit.
	AtStake(ctx context.Context) ([]Stake, error)
	// Quit closes the attached window, and with Stop ends what the agents do.
	Quit(ctx context.Context, args QuitArgs) error
	// OpenURL opens an http, https or mailto address outside, for the page in the window.
	OpenURL(ctx context.Context, args OpenURL) error
	// ShowFile shows a file that was just exported, or settings.jsonc, in its folder.
	ShowFile(ctx context.Context, args ShowFile) error
}

// Window is the attached desktop window; there is at most one.
type Window interface {
	// PickFolder opens the native folder dialog; "" means that the person cancelled it.
	PickFolder(ctx context.Context) (string, error)
	// Raise brings the window to the front.
	Raise(ctx context.Context) error
	// OpenURL opens an address that Openable allows in the user's browser or mail program.
	OpenURL(ctx context.Context, url string) error
	// ShowFile shows a file in the person's file manager.
	ShowFile(ctx context.Context, path string) error
	// Close closes the window.
	Close(ctx context.Context) error
	// OpenFile opens a file in the program that the person has for its kind.
	OpenFile(ctx context.Context, path string) error
}
