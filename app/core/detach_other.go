//go:build !linux && !darwin

package core

import "os"

func closeInherited() {}

func redirectOutput(*os.File) error { return nil }
