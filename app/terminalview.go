package app

import "context"

// TerminalsAPI is what a person can do with terminals. What they show goes over the stream "terminal", see
// TerminalStream.
type TerminalsAPI interface {
	// List returns a workspace's terminals in the order in which they were opened.
	List(ctx context.Context, args ByID) ([]Terminal, error)
	// Open opens a terminal with the person's shell.
	Open(ctx context.Context, args OpenTerminal) (Terminal, error)
	// Close ends a terminal and everything that was started in it. One that is closed already is no error.
	Close(ctx context.Context, args ByID) error
	// Rename gives a terminal a name of the person's; "" goes back to the program's title.
	Rename(ctx context.Context, args RenameTerminal) (Terminal, error)
	// Type puts a text at the prompt, without Enter.
	Type(ctx context.Context, args TypeText) (Typed, error)
	// Editors lists the editors and terminals that are installed.
	Editors(ctx context.Context) ([]Editor, error)
	// OpenEditor opens a workspace's folder, or a file in it, in an installed editor or system terminal.
	OpenEditor(ctx context.Context, args OpenEditor) (Opened, error)
}

// Terminal is a terminal as a list shows it.
type Terminal struct {
	ID        string `json:"id"`
	Workspace string `json:"workspace"`
	Group     string `json:"group"` // terminals of one group are shown side by side
	Number    int    `json:"number"`
	Name      string `json:"name"`    // given by the person, else ""
	Title     string `json:"title"`   // as the program says it; cleaned, at most 200 characters
	Program   string `json:"program"` // what runs instead of the shell, "" for the shell
	Dir       string `json:"dir"`     // where the shell is, "" when not known
	Busy      bool   `json:"busy"`    // a command runs in it
	Bells     int    `json:"bells"`   // since it was opened
	Cols      int    `json:"cols"`
	Rows      int    `json:"rows"`
	// Confined says that the workspace's sandbox policy holds it, in Tier; otherwise it runs with the
	// person's rights.
	Confined bool          `json:"confined"`
	Tier     string        `json:"tier,omitempty"`
	LastCode *int          `json:"lastCode,omitempty"` // of the last command, where the shell tells
	Exit     *TerminalExit `json:"exit,omitempty"`     // it has ended
}

// TerminalExit is how a terminal's program ended.
type TerminalExit struct {
	Code   int      `json:"code"` // 128+n for signal n
	Killed bool     `json:"killed"`
	Notes  []string `json:"notes,omitempty"` // what a confined one left
}

// OpenTerminal asks for a terminal in a workspace's folder.
type OpenTerminal struct {
	Workspace string `json:"workspace"`
	Beside    string `json:"beside,omitempty"` // a terminal to share a place with
	Cols      int    `json:"cols,omitempty"`
	Rows      int    `json:"rows,omitempty"`
	// Confined holds it by the workspace's sandbox policy, like an agent's commands.
	Confined bool `json:"confined,omitempty"`
}

// RenameTerminal names a terminal.
type RenameTerminal struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// TypeText is a text for the prompt of a terminal.
type TypeText struct {
	ID   string `json:"id"`
	Text string `json:"text"` // at most 64 KiB
}

// Typed says what became of a text.
type Typed struct {
	// Left is how many lines were not typed, because the program would have run each at once.
	Left int `json:"left"`
}

// Editor is a program that can open a workspace's folder.
type Editor struct {
	ID       string `json:"id"`   // such as vscode
	Name     string `json:"name"` // as people know it
	Terminal bool   `json:"terminal"`
	// Inside says that it opens in a terminal of Carrel's.
	Inside bool `json:"inside"`
}

// OpenEditor asks to open a workspace in an editor.
type OpenEditor struct {
	Workspace string `json:"workspace"`
	// Editor is an Editor's id; "" is the preferred editor, else the first installed one; "terminal" the
	// first installed system terminal.
	Editor string `json:"editor,omitempty"`
	Path   string `json:"path,omitempty"` // of a file, relative to the workspace; "" is its folder
	Line   int    `json:"line,omitempty"` // to go to, from 1
}

// Opened says what opened.
type Opened struct {
	Editor   string `json:"editor"`             // its name
	Terminal string `json:"terminal,omitempty"` // the id of Carrel's terminal that it opened in
}

// TerminalChanged says that a terminal is new or changed.
type TerminalChanged struct {
	Terminal Terminal `json:"terminal"`
}

// TerminalClosed says that a terminal is gone.
type TerminalClosed struct {
	ID        string `json:"id"`
	Workspace string `json:"workspace"`
}

// EventName implements Event.
func (TerminalChanged) EventName() string { return "terminal.changed" }

// EventName implements Event.
func (TerminalClosed) EventName() string { return "terminal.closed" }

// Topic implements Event.
func (TerminalChanged) Topic() string { return "" }

// Topic implements Event.
func (TerminalClosed) Topic() string { return "" }
