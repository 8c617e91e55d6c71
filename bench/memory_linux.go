package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memoryOf gives the resident memory in bytes of a process and of all below it; 0 is this one alone.
// What processes share counts once for each.
func memoryOf(root int) (int64, bool) {
	if root == 0 {
		return resident("self")
	}
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, rest, ok := bytes.Cut(text[max(0, bytes.LastIndexByte(text, ')')):], []byte(") "))
		fields := strings.Fields(string(rest))
		pid, err := strconv.Atoi(strings.Split(name, "/")[2])
		if !ok || err != nil || len(fields) < 2 {
			continue
		}
		parents[pid], _ = strconv.Atoi(fields[1])
	}
	var sum int64
	for pid := range parents {
		for at := pid; at > 1; at = parents[at] {
			if at == root {
				n, _ := resident(strconv.Itoa(pid))
				sum += n
				break
			}
		}
	}
	return sum, sum > 0
}

func resident(pid string) (int64, bool) {
	text, err := os.ReadFile("/proc/" + pid + "/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}
