package runtime

import (
	"context"
	"errors"
	"os"
	"slices"
)

// ErrMoved says that a path leads elsewhere than when it was judged.
var ErrMoved = errors.New("it leads elsewhere than when it was decided that this may be done; a link was changed meanwhile")

// judgedKey is the context's key of the places.
type judgedKey struct{}

// Judged gives a context for a call that was judged by where its path leads: Files opens and writes in
// these places alone, else ErrMoved, whatever links are changed meanwhile. Places are absolute.
func Judged(ctx context.Context, places ...string) context.Context {
	return context.WithValue(ctx, judgedKey{}, places)
}

// judged reports whether the file at that place is one that was decided about.
func judged(ctx context.Context, place string) error {
	if places, ok := ctx.Value(judgedKey{}).([]string); ok && !slices.Contains(places, place) {
		return ErrMoved
	}
	return nil
}

// placeOf says where an open file or folder is; given is what its name said.
func placeOf(file *os.File, given string) string {
	if place := openedAt(file); place != "" {
		return place
	}
	return given
}
