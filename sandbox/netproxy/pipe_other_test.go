//go:build !linux

package netproxy

func pipesMade(*Proxy) (idle, lent int) { return 0, 0 }
