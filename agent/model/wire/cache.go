package wire

import (
	"crypto/sha256"
	"slices"
	"sync"

	"carrel/agent/model"
)

// Bounds of a Cache: of all histories and of one, in bytes, and of what was refused, in entries.
const (
	maxHistories = 32 << 20
	maxHistory   = 16 << 20
	maxRefused   = 512
)

// Cache remembers how conversations were written and what providers refused: the images and the
// tools that made a request fail are left out of the next ones. It is bounded and safe for
// concurrent use. Share one between the clients of a process.
type Cache struct {
	mu        sync.Mutex
	histories map[string]*history
	order     []string // of histories, the one used longest ago first
	size      int
	refused   map[string]bool
	refusals  []string // of refused, in the order in which they came
}

// NewCache makes an empty one, as the zero value is.
func NewCache() *Cache { return &Cache{} }

// take gives the history of a conversation to one user, an empty one when there is none.
func (c *Cache) take(key string) *history {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.histories[key]; h != nil {
		c.drop(key)
		return h
	}
	return &history{}
}

// forget drops the history of a conversation.
func (c *Cache) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
}

// put gives a history back.
func (c *Cache) put(key string, h *history) {
	if h.size > maxHistory {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
	if c.histories == nil {
		c.histories = map[string]*history{}
	}
	c.histories[key] = h
	c.order = append(c.order, key)
	c.size += h.size
	for c.size > maxHistories {
		c.drop(c.order[0])
	}
}

func (c *Cache) drop(key string) {
	h := c.histories[key]
	if h == nil {
		return
	}
	c.size -= h.size
	delete(c.histories, key)
	i := slices.Index(c.order, key)
	c.order = slices.Delete(c.order, i, i+1)
}

// refuse remembers a tool or an image.
func (c *Cache) refuse(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused[what] {
		return
	}
	if c.refused == nil {
		c.refused = map[string]bool{}
	}
	c.refused[what] = true
	c.refusals = append(c.refusals, what)
	if len(c.refusals) > maxRefused {
		delete(c.refused, c.refusals[0])
		c.refusals = c.refusals[1:]
	}
}

// anyRefused reports whether anything was refused, so that most requests need no hashes.
func (c *Cache) anyRefused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.refused) > 0
}

func (c *Cache) isRefused(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused[what]
}

func toolKey(origin string, t model.Tool) string {
	sum := sha256.Sum256(t.Schema)
	return origin + "\x00tool\x00" + t.Name + "\x00" + string(sum[:])
}

func imageKey(origin string, data []byte) string {
	sum := sha256.Sum256(data)
	return origin + "\x00image\x00" + string(sum[:])
}
