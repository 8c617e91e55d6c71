package jail

import (
	"fmt"
	"syscall"

	"carrel/sandbox/plan"
)

// Kind says what a message is.
type Kind string

// Messages to the supervisor. Each is answered, in order, by Done or Failed. All but Layer are about
// the network namespace that Message.Room names.
const (
	// Spawn asks for one more helper: its socket and its pidfd come with the answer.
	Spawn Kind = "spawn"
	// Layer asks for Message.Overlays, one detached mount each.
	Layer Kind = "layer"
	// Listen asks for Message.Endpoints, one listening socket each.
	Listen Kind = "listen"
	// Dial asks for a connection to Message.Port on the loopback.
	Dial Kind = "dial"
)

// Messages to a helper.
const (
	// Ready asks it to do everything that can be done before the command is known; answered by Done
	// or Failed. Overlays' mounts come with it, in the order of the plan. Listening sockets for
	// Message.Endpoints come with the answer, for a helper that owns its network namespace.
	Ready Kind = "ready"
	// Run starts the command, once; its standard streams come with it. Answered by Done with the
	// process id or by Failed, then by Ended.
	Run Kind = "run"
	// Signal passes Message.Signal to the command's process group.
	Signal Kind = "signal"
)

// Answers.
const (
	Done   Kind = "done"
	Failed Kind = "failed"
	// Ended is the last message of a helper: nothing of the command is left.
	Ended Kind = "ended"
)

// Room is one of the network namespaces that a supervisor has helpers in. They are made when first
// asked for.
type Room string

// The rooms.
const (
	Outside Room = ""       // the machine's own network
	Closed  Room = "closed" // a loopback and nothing else
	Caught  Room = "caught" // a loopback that has every address
)

// Message is one frame on a socket.
type Message struct {
	Kind      Kind         `json:"kind"`
	Room      Room         `json:"room,omitempty"`
	Plan      *plan.Plan   `json:"plan,omitempty"`
	Confine   Confine      `json:"confine,omitzero"`
	Run       *Start       `json:"run,omitempty"`
	Overlays  []plan.Mount `json:"overlays,omitempty"`
	Endpoints []Endpoint   `json:"endpoints,omitempty"`
	Signal    int          `json:"signal,omitempty"`
	Port      int          `json:"port,omitempty"`
	PID       int          `json:"pid,omitempty"` // in the namespace of who sends it
	Failure   *Failure     `json:"failure,omitempty"`
	Exit      Exit         `json:"exit,omitzero"`
	// Bytes says that each byte of the strings was made a character: see wrap.
	Bytes bool `json:"bytes,omitempty"`
}

// Confine is what of a plan the kernel's version decides.
type Confine struct {
	Landlock int  `json:"landlock"` // version of the interface, 0 for none
	Mounted  bool `json:"mounted"`  // someone else has made the mounts
}

// Start is one command.
type Start struct {
	Argv     []string `json:"argv"`
	Env      []string `json:"env"`
	Dir      string   `json:"dir"`
	Terminal bool     `json:"terminal"` // the first stream becomes the controlling terminal
	Limits   Limits   `json:"limits"`
}

// Limits are the plan's.
type Limits struct {
	Processes int   `json:"processes,omitempty"`
	OpenFiles int   `json:"open_files,omitempty"`
	FileSize  int64 `json:"file_size,omitempty"`
	Memory    int64 `json:"memory,omitempty"`
	Core      int64 `json:"core"`
}

// Endpoint is an address to listen on.
type Endpoint struct {
	UDP     bool   `json:"udp,omitempty"`
	Address string `json:"address"` // "127.0.0.1:0"
	// Optional is left out where it can't be had; the answer's Endpoints say what there is.
	Optional bool `json:"optional,omitempty"`
}

// Exit is how a command ended.
type Exit struct {
	Code   int `json:"code"`   // 0 to 255; 0 when a signal ended it
	Signal int `json:"signal"` // 0 when it exited
	// Lost lists the guards that were replaced from outside: the command was stopped for it.
	Lost []string `json:"lost,omitempty"`
}

// Failure is an error that crossed a socket.
type Failure struct {
	Step   string `json:"step"`   // "mount overlay"
	Object string `json:"object"` // a path, an address or a program; may be empty
	Errno  int    `json:"errno"`  // 0 when the system has no number for it
	Text   string `json:"text"`
}

// Error is operation "object": cause.
func (f *Failure) Error() string {
	if f.Object == "" {
		return fmt.Sprintf("%s: %s", f.Step, f.Text)
	}
	return fmt.Sprintf("%s %q: %s", f.Step, f.Object, f.Text)
}

// Unwrap gives the system's error.
func (f *Failure) Unwrap() error {
	if f.Errno == 0 {
		return nil
	}
	return syscall.Errno(f.Errno)
}
