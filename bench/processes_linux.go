package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// stat reads the fields of /proc/PID/stat after the command, which may hold anything; nil when the
// process has ended.
func stat(pid int) []string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil
	}
	_, rest, _ := bytes.Cut(text[max(0, bytes.LastIndexByte(text, ')')):], []byte(") "))
	return strings.Fields(string(rest))
}

// below gives the processes below one, at any depth, oldest first.
func below(root int) []int {
	parents := map[int]int{}
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if fields := stat(pid); err == nil && len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	var out []int
	for pid := range parents {
		for at := parents[pid]; at > 1; at = parents[at] {
			if at == root {
				out = append(out, pid)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

// clockTick is the unit of CPU time in /proc; it is the same on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// cpuOf is the CPU time of a process and of the children that it has waited for.
func cpuOf(pid int) time.Duration {
	fields := stat(pid)
	if len(fields) < 15 {
		return 0
	}
	var sum time.Duration
	for _, f := range fields[11:15] { // utime, stime, cutime, cstime
		n, _ := strconv.ParseInt(f, 10, 64)
		sum += time.Duration(n) * clockTick
	}
	return sum
}

// commandOf is the name of a process's program, "" when it has ended.
func commandOf(pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(string(text), "\x00")
	return filepath.Base(name)
}

// displayOf gives the variables by which a process reaches its display.
func displayOf(pid int) []string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	var out []string
	for _, pair := range strings.Split(string(text), "\x00") {
		if strings.HasPrefix(pair, "DISPLAY=") || strings.HasPrefix(pair, "XAUTHORITY=") {
			out = append(out, pair)
		}
	}
	return out
}

// holdsOpen reports whether a process has a file open.
func holdsOpen(pid int, path string) bool {
	links, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "fd", "*"))
	return slices.ContainsFunc(links, func(link string) bool {
		to, err := os.Readlink(link)
		return err == nil && to == path
	})
}

// memoryOf gives the resident memory in bytes of a process and of all below it; 0 is this one alone.
// What processes share counts once for each.
func memoryOf(root int) (int64, bool) {
	if root == 0 {
		return resident("self")
	}
	var sum int64
	for _, pid := range append(below(root), root) {
		n, _ := resident(strconv.Itoa(pid))
		sum += n
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
