package plan

import (
	"errors"
	"sync"
	"time"

	"carrel/sandbox/policy"
)

// Cache keeps what planning learned of the tree, so that the next plan is cheap. One belongs to one
// sandbox; it may be used by several goroutines.
type Cache struct {
	// MaxAge is how long the search for nested repositories counts without a look at the tree. Set it
	// before the first use. Call Forget when something outside the sandbox may have made a repository.
	MaxAge time.Duration

	mu sync.Mutex
}

// NewCache returns an empty cache whose MaxAge is two seconds.
func NewCache() *Cache { return &Cache{MaxAge: 2 * time.Second} }

// Make is the function Make, helped by what earlier calls learned.
func (c *Cache) Make(p policy.Policy, m Machine, t Tree, cmd Command) (Plan, error) {
	return Plan{}, errors.New("not there yet")
}

// Forget drops everything that depends on MaxAge.
func (c *Cache) Forget() {}
