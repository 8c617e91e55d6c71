package attach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"carrel/store"
)

// maxSocketPath is the longest path of a socket in bytes: 104 on macOS with the final zero, 108 on
// Linux. The smaller one serves both.
const maxSocketPath = 103

// The socket lies at run/core.sock, or, where that path is too long for the system, in a private
// folder for temporary files whose path run/core.sock.path holds.
const (
	socketName  = "core.sock"
	pointerName = "core.sock.path"
)

// findSocket returns where a core would listen.
func findSocket(root *store.Root) (string, error) {
	path := root.Path("run", socketName)
	if len(path) <= maxSocketPath {
		return path, nil
	}
	text, err := os.ReadFile(root.Path("run", pointerName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoCore
	}
	if err != nil {
		return "", fmt.Errorf("find the core's socket: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// listen makes the socket. The caller holds the root's lock, so whatever lies there is a dead
// core's. The result removes what listen made.
func listen(ctx context.Context, root *store.Root) (*net.UnixListener, func(), error) {
	if err := os.MkdirAll(root.Path("run"), 0o700); err != nil {
		return nil, nil, err
	}
	path := root.Path("run", socketName)
	clean := func() {}
	if len(path) > maxSocketPath {
		var err error
		if path, clean, err = shortPath(root); err != nil {
			return nil, nil, err
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		clean()
		return nil, nil, err
	}
	unix, ok := l.(*net.UnixListener)
	if !ok {
		_ = l.Close()
		return nil, nil, fmt.Errorf("%T is no socket", l)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		clean()
		return nil, nil, err
	}
	return unix, clean, nil
}

// shortPath makes a private folder with a short path and points to it from the root.
func shortPath(root *store.Root) (string, func(), error) {
	pointer := root.Path("run", pointerName)
	if old, err := os.ReadFile(pointer); err == nil {
		removeShort(strings.TrimSpace(string(old)))
	}
	dir, err := os.MkdirTemp(os.Getenv("XDG_RUNTIME_DIR"), "carrel-") // 0700; "" is the folder for temporary files
	if err != nil {
		if dir, err = os.MkdirTemp("", "carrel-"); err != nil {
			return "", nil, err
		}
	}
	path := filepath.Join(dir, "s")
	if err := store.WriteFile(pointer, []byte(path+"\n"), 0o600); err != nil {
		removeShort(path)
		return "", nil, err
	}
	return path, func() {
		_ = os.Remove(pointer)
		removeShort(path)
	}, nil
}

// removeShort removes a socket and its folder, and nothing that is not empty.
func removeShort(path string) {
	if dir := filepath.Dir(path); filepath.Base(path) == "s" && strings.HasPrefix(filepath.Base(dir), "carrel-") {
		_ = os.Remove(path)
		_ = os.Remove(dir)
	}
}
