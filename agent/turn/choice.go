package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"carrel/agent/model"
)

// Errors that a caller decides by.
var (
	// ErrNotQueued is wrapped when a queued message is not there any more: most likely it was sent.
	ErrNotQueued = errors.New("the message is not in the queue any more")
	// ErrFull is wrapped by Send when too many messages wait.
	ErrFull = errors.New("too many messages wait")
	// ErrEmpty is wrapped when neither text nor files would be left in a message.
	ErrEmpty = errors.New("the message is empty")
	// ErrNoMessage is wrapped by Edit when there is no message of a person at that place.
	ErrNoMessage = errors.New("there is no message of a person at that place")
	// ErrNothing is wrapped by Retry when there is nothing to repeat.
	ErrNothing = errors.New("there is nothing to repeat")
)

// FileError is a file of a message that models can't read. Cause wraps one of package picture's errors.
type FileError struct {
	Name  string
	Cause error
}

// Error names the file and says what is wrong with it.
func (e *FileError) Error() string { return fmt.Sprintf("attach %q: %v", e.Name, e.Cause) }

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Cause }

// Choice is who answers and how hard they think: of a workspace, or of one message alone. What is
// empty in a message's choice is the workspace's.
type Choice struct {
	Model string `json:"model,omitempty"` // provider:id, or a short name
	Level string `json:"level,omitempty"` // how hard it thinks, in the catalogue's words; "": its default
	Pro   bool   `json:"pro,omitempty"`
	Cyber bool   `json:"cyber,omitempty"`
}

// Endpoint is a model ready to be asked.
type Endpoint struct {
	ID       string // provider:id
	Name     string // the provider's own id
	Via      string // the gateway's provider/model that it is asked through; "" there is none between
	Level    string // that will be used: what was asked for, within what the model can
	Streamer model.Streamer
	// Prepare fills what settings and catalogue say about a request, always the same for the same
	// settings; nil leaves the request as it is.
	Prepare func(*model.Request)
	Window  int64 // tokens; 0 unknown
	Images  bool  // it can see pictures
	// Fallbacks are the models, provider:id, that are asked in turn when this one refuses.
	Fallbacks []string
	// Price is what a response cost in micro-USD, given its tier; nil or not known without prices.
	Price func(u model.Usage, tier string) (micro int64, known bool)
}

// Dispatch says when a message that was sent during a turn is given to the model.
type Dispatch string

// The dispatches.
const (
	AfterStep Dispatch = "step" // with the next request of the turn; the default
	AfterTurn Dispatch = "turn" // when the turn has ended, as a turn of its own
)

// Message is what a person sends.
type Message struct {
	ID   string // of the sender; one that is known changes nothing, "" gets one
	Text string
	// Files are pictures: parts of kind file with Data, or with the Blob that Data was kept under. In an
	// edit nil leaves those of the old message, an empty list removes them.
	Files    []model.Part
	Dispatch Dispatch // "" is AfterStep
	Choice   *Choice  // for the answer to this message alone
}

// Queued is a message that waits.
type Queued struct {
	ID       string
	Text     string
	At       time.Time
	Dispatch Dispatch
	Choice   *Choice
	Files    int // how many
	parts    []model.Part
}

// StepInfo is a step that has ended, as the hooks of a Config see it.
type StepInfo struct {
	Turn    string
	Step    int           // from 1; 0 before the first
	Message model.Message // the response
	Results []model.Part  // of its calls, in their order
}

// Resolver makes the endpoint of a choice. Its error is shown to the person: it says what to do.
type Resolver func(ctx context.Context, c Choice) (Endpoint, error)

// over is this choice with what it leaves open taken from base.
func (c Choice) over(base Choice) Choice {
	return Choice{
		Model: cmp.Or(c.Model, base.Model), Level: cmp.Or(c.Level, base.Level),
		Pro: c.Pro || c.Model == "" && base.Pro, Cyber: c.Cyber || c.Model == "" && base.Cyber,
	}
}

// provider is the part of the id that a circuit breaker is for.
func (e *Endpoint) provider() string {
	p, _, _ := strings.Cut(e.ID, ":")
	return p
}
