//go:build !linux

package sandbox

// withProgram fills in nothing: only Linux needs a helper.
func withProgram(c Config) (Config, error) { return c, nil }
