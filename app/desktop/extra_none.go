//go:build desktop && !window

package desktop

import (
	"context"
	"time"
)

// What the window tests add is not in the product: see extra_window.go.

func extraServices(*guard) []any  { return nil }
func extraLoaded(context.Context) {}
func suppressPaint() bool         { return false }
func paintWait() time.Duration    { return firstPaint }
