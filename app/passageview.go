package app

// FindInConversation asks for the entries that hold a text; case does not count.
type FindInConversation struct {
	Workspace string `json:"workspace"`
	Text      string `json:"text"`             // at most 1,000 bytes
	Before    uint64 `json:"before,omitempty"` // FoundEntries.Next of the call before; 0: from the newest on
}

// FoundEntries are entries with a text, the newest first.
type FoundEntries struct {
	Hits []FoundEntry `json:"hits"`
	Next uint64       `json:"next,omitempty"` // where to go on; absent: everything was looked at
}

// FoundEntry is an entry that holds a text.
type FoundEntry struct {
	Entry string `json:"entry"`
	Order uint64 `json:"order"`
	Count int    `json:"count"` // how often it holds the text
}

// RawEntry is what an entry was made of.
type RawEntry struct {
	Text string `json:"text"`          // a JSON list of records, at most 1 MiB
	Cut  bool   `json:"cut,omitempty"` // there was more
}
