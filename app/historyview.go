package app

import "time"

// CostsBy says what costs are listed by.
type CostsBy string

// What costs can be listed by.
const (
	CostsByWorkspace CostsBy = "workspace" // sub-agents count for the workspace that started them
	CostsByProject   CostsBy = "project"
	CostsByModel     CostsBy = "model"
	CostsByDay       CostsBy = "day"     // where the core runs
	CostsByMessage   CostsBy = "message" // each request; Key is the sequence of its record, "0" for none
)

// CostQuery chooses what costs are summed up. Empty fields don't limit.
type CostQuery struct {
	By        CostsBy    `json:"by,omitempty"` // default: workspace
	From      *time.Time `json:"from,omitempty"`
	To        *time.Time `json:"to,omitempty"`        // exclusive
	Workspace string     `json:"workspace,omitempty"` // id; with its sub-agents
	Project   string     `json:"project,omitempty"`   // id
	Model     string     `json:"model,omitempty"`     // provider:id
	Limit     int        `json:"limit,omitempty"`     // lines; default 100, at most 1,000
}

// CostLine sums up some requests.
type CostLine struct {
	Key        string     `json:"key"`            // id of a workspace or project, a model, a day as 2006-01-02
	Name       string     `json:"name,omitempty"` // of the workspace or project; by message the model
	Gone       bool       `json:"gone,omitempty"` // the workspace or project was deleted
	Requests   int64      `json:"requests"`
	Unpriced   int64      `json:"unpriced,omitempty"` // requests without a known price, which USD does not hold
	Input      int64      `json:"input"`              // tokens
	Output     int64      `json:"output"`             // tokens, Reasoning included
	Reasoning  int64      `json:"reasoning"`
	CacheRead  int64      `json:"cacheRead"`
	CacheWrite int64      `json:"cacheWrite"`
	Searches   int64      `json:"searches,omitempty"` // billed web searches
	USD        *float64   `json:"usd,omitempty"`      // absent: nothing of it has a known price
	Last       *time.Time `json:"last,omitempty"`     // when the latest was made
}

// CostSummary is what was spent, the most expensive first; days and messages the newest first.
type CostSummary struct {
	By    CostsBy    `json:"by"`
	Lines []CostLine `json:"lines"`
	More  int        `json:"more,omitempty"` // lines that were left out; Total holds them
	Total CostLine   `json:"total"`
}

// SetBudget limits what a workspace may spend.
type SetBudget struct {
	Workspace string   `json:"workspace"`
	USD       *float64 `json:"usd,omitempty"` // absent: no limit
}

// HitRole says whose words were found.
type HitRole string

// The roles of a Hit.
const (
	HitUser      HitRole = "user"
	HitAssistant HitRole = "assistant"
	HitTool      HitRole = "tool" // the input of a call, or its output
)

// FindText says what to look for. Empty fields don't limit.
type FindText struct {
	// Text is words and "phrases" that must all be there; -word must not be there, word* is the
	// beginning of one. Case and accents don't count.
	Text      string  `json:"text"`
	Workspace string  `json:"workspace,omitempty"` // id
	Project   string  `json:"project,omitempty"`   // id
	Role      HitRole `json:"role,omitempty"`
	Before    int64   `json:"before,omitempty"` // the ID of the last hit that is known: older ones
	Limit     int     `json:"limit,omitempty"`  // hits; default 20, at most 100
	// Wait waits until everything is indexed, which takes a minute for each GB that is new.
	Wait bool `json:"wait,omitempty"`
}

// Found is what was found, the newest first.
type Found struct {
	Hits   []Hit `json:"hits"`
	More   bool  `json:"more,omitempty"`   // there are older ones
	Behind int64 `json:"behind,omitempty"` // bytes of history that are not searchable yet
}

// Hit is a place where everything was found.
type Hit struct {
	ID        int64     `json:"id"`
	Workspace string    `json:"workspace"`
	Name      string    `json:"name"`
	Title     string    `json:"title"`
	ProjectID string    `json:"projectId"`
	Archived  bool      `json:"archived,omitempty"`
	Entry     string    `json:"entry"` // id of the Entry, unless Left
	Order     uint64    `json:"order"` // of that Entry: a page before Order + 1 ends with it
	Time      time.Time `json:"time"`
	Role      HitRole   `json:"role"`
	Left      bool      `json:"left,omitempty"` // an edit left it behind: it is not shown any more
	Snippet   []Piece   `json:"snippet"`        // one line, some 240 bytes
}

// Piece is a run of a snippet's text.
type Piece struct {
	Text string `json:"text"`
	Hit  bool   `json:"hit,omitempty"` // it is what was looked for
}

// ExportFormat is the form of an export.
type ExportFormat string

// The forms of an export.
const (
	ExportMarkdown ExportFormat = "md"
	ExportJSON     ExportFormat = "json"
)

// ExportConversation asks for a conversation as a document.
type ExportConversation struct {
	Workspace string       `json:"workspace"`
	Format    ExportFormat `json:"format"`
	Reasoning bool         `json:"reasoning,omitempty"` // the models' reasoning too
	Left      bool         `json:"left,omitempty"`      // also what edits and /clear left behind
}

// SavedExport is a document that was written to a file.
type SavedExport struct {
	Path string `json:"path"`
}

// Exported is a document.
type Exported struct {
	Name string `json:"name"` // of a file
	Mime string `json:"mime"`
	Text string `json:"text"`
}
