package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// serverKey marks a model server: this program started again, so that what it uses is not ours. Its value
// is the name of one of servers.
const serverKey = "CARREL_BENCH_SERVER"

func servers(name string) http.Handler {
	if name == "time" {
		return http.HandlerFunc(streamTime)
	}
	return &stepServer{}
}

// startServer starts a model server in a process of its own, until end is called.
func startServer(name string) (url string, end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), serverKey+"="+name), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		_ = in.Close() // it ends then
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		end()
		return "", nil, fmt.Errorf("start the model server: %w", err)
	}
	return strings.TrimSpace(line), end, nil
}

// served is a model server's whole life; elsewhere it does nothing.
func served() {
	name := os.Getenv(serverKey)
	if name == "" {
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("http://" + l.Addr().String())
	go func() { _ = http.Serve(l, servers(name)) }() // ends with the process
	_, _ = io.Copy(io.Discard, os.Stdin)             // until the bench ends
	os.Exit(0)
}
