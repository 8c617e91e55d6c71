// Package runtime says where a workspace's files live and its commands run.
//
// Tools and hooks see only the Runtime interface, so the same tool works in the project folder, in
// a worktree and, later, on other machines. Every implementation passes one conformance suite.
package runtime

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// Kind names a runtime. It is what people type after --runtime.
type Kind string

// The runtimes.
const (
	Local    Kind = "local"    // the project's own folder
	Worktree Kind = "worktree" // a git worktree of the project
)

// Runtime is one workspace's place.
type Runtime interface {
	Kind() Kind
	// Dir is the workspace's root, absolute, as its commands see it.
	Dir() string
	// Files gives confined access to the files below Dir.
	Files() Files
	// Start starts a command. The context ends the command and everything in its process group:
	// SIGTERM, then SIGKILL after two seconds.
	Start(ctx context.Context, c Command) (Process, error)
}

// Command is a program to run. It has no terminal, its standard input is empty unless Stdin is set,
// and it runs in a session of its own.
type Command struct {
	Argv []string // never a shell string; Argv[0] is looked up in the runtime's PATH
	Dir  string   // relative to the workspace root; "" is the root
	Env  []string // KEY=value, over the runtime's base environment
	// Output gets standard output and standard error in the order in which they were written.
	// Writes come from one goroutine; a slow writer slows the command.
	Output io.Writer
	Stdin  io.Reader
	// Hold says how the sandbox holds it.
	Hold Hold
}

// Process is a started command.
type Process interface {
	// Wait returns when the command itself has ended, even if a child of it lives on and still
	// holds the output (what such a child writes within 100 ms is still delivered, the rest is
	// dropped). Call it once.
	Wait() (Exit, error)
	// PID is the process's id where the runtime is on this machine, else 0.
	PID() int
}

// Exit says how a command ended. Code is 128+n for a command ended by signal n.
type Exit struct {
	Code   int
	Killed bool // ended because the context was
	Took   time.Duration
	// Lost lists guarded files that something outside replaced while a confined command ran, which was
	// stopped for that.
	Lost []string
	// Notes are sentences about what a confined command left, such as what was put into quarantine.
	Notes []string
}

// ErrOutside is wrapped by every refusal of a path that leads out of the workspace.
var ErrOutside = errors.New("path is outside the workspace")

// ErrChanged is returned by Write when the file is no longer what WriteOptions.If says.
var ErrChanged = errors.New("file changed since it was read")

// Files is the workspace's file tree. Paths are relative to the root, or absolute inside it;
// anything else, also through a symbolic link, is refused with ErrOutside.
type Files interface {
	// Open opens a regular file for reading.
	Open(ctx context.Context, path string) (io.ReadCloser, fs.FileInfo, error)
	Stat(ctx context.Context, path string) (fs.FileInfo, error)
	ReadDir(ctx context.Context, path string) ([]fs.DirEntry, error)
	// Write replaces or creates a file in one step, keeping an existing file's mode and, where
	// permitted, its owner. A symbolic link inside the workspace is followed. Missing folders are
	// made.
	Write(ctx context.Context, path string, data []byte, o WriteOptions) error
	Remove(ctx context.Context, path string) error
}

// WriteOptions qualifies Files.Write.
type WriteOptions struct {
	// If, when not nil, is the content that the file must still have; else ErrChanged.
	If []byte
	// New says that the file must not exist yet; else an error that wraps fs.ErrExist.
	New bool
	// Mode is the mode of a new file, less the umask; 0 is 0666.
	Mode fs.FileMode
}
