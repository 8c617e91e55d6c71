package desktop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"carrel/store"
)

// The sizes of the window in the screen's logical pixels.
const (
	minWidth, minHeight         = 375, 600
	defaultWidth, defaultHeight = 1280, 840
)

// memory is what the window remembers between its lives, in window.json of the data root.
type memory struct {
	Place place `json:"place"`
	// Rendering is "safe" after the window failed to draw itself.
	Rendering string `json:"rendering,omitempty"`
	// Blank counts the windows in a row that ended before they had drawn anything.
	Blank int `json:"blank,omitempty"`
	// Rescues counts the times that drawing safely helped after that.
	Rescues int `json:"rescues,omitempty"`
}

// place is where the window was, in logical pixels of the whole screen.
type place struct {
	X         int  `json:"x"`
	Y         int  `json:"y"`
	Width     int  `json:"width"` // 0: it has not been anywhere yet
	Height    int  `json:"height"`
	Maximised bool `json:"maximised,omitempty"`
}

const memoryFile = "window.json"

// recall reads the memory. One that can't be read is kept aside and starts anew.
func recall(root *store.Root) (memory, error) {
	var m memory
	path := root.Path(memoryFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("read %q: %w", path, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		_, aside := root.KeepAside(path, "it is no JSON")
		return memory{}, errors.Join(fmt.Errorf("read %q: %w", path, err), aside)
	}
	return m, nil
}

// remember writes the memory whole or not at all.
func remember(root *store.Root, m memory) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return store.WriteFile(root.Path(memoryFile), append(text, '\n'), 0o600)
}

// size is the size to open with.
func (p place) size() (width, height int) {
	if p.Width == 0 {
		return defaultWidth, defaultHeight
	}
	return max(p.Width, minWidth), max(p.Height, minHeight)
}
