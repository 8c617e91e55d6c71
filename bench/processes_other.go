//go:build !linux

package main

import "time"

// Other systems have no /proc; the rows that need it are skipped there.

func memoryOf(int) (int64, bool) { return 0, false }

func below(int) []int { return nil }

func cpuOf(int) time.Duration { return 0 }

func commandOf(int) string { return "" }

func displayOf(int) []string { return nil }

func holdsOpen(int, string) bool { return false }
