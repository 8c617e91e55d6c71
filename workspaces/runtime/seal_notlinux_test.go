//go:build !linux

package runtime_test

func spied(string) {}
