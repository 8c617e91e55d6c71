//go:build !unix

package plan

import "os"

func openQuiet(name string) (*os.File, error) { return os.Open(name) }
