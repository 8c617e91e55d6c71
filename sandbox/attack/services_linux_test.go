package attack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	ttyLog = "/tmp/ttylog"
	udpLog = "/tmp/udplog"
	dnsLog = "/tmp/dnslog"
)

// services is what runs on the machine for the user, outside of every sandbox.
type services struct {
	tty     *os.File // the terminal that the user looks at
	ttyName string
	backend *backend
	naive   *naive
	mu      sync.Mutex
	seen    map[string]*bytes.Buffer // by log file
	grew    *sync.Cond
}

func serve() (*services, error) {
	s := &services{seen: map[string]*bytes.Buffer{}}
	s.grew = sync.NewCond(&s.mu)
	if err := s.terminal(); err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	if err := s.resetTmp(); err != nil {
		return nil, err
	}
	for _, path := range sockets() {
		if err := listenUnix(path); err != nil {
			return nil, err
		}
	}
	if err := os.Chown("/run/user/1000", uid, uid); err != nil {
		return nil, err
	}
	answer := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			b := make([]byte, 64)
			if n, _ := c.Read(b); n > 0 {
				_, _ = io.WriteString(c, text)
			}
		}
	}
	for addr, text := range map[string]string{
		fmt.Sprintf("127.0.0.1:%d", hostPort):  "HOSTSVC\n",
		fmt.Sprintf("[::1]:%d", hostPort):      "HOSTSVC\n",
		fmt.Sprintf("127.0.0.2:%d", proxyPort): "OTHERADDR\n",
	} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, err
		}
		go accept(l, answer(text))
	}
	for addr, file := range map[string]string{fmt.Sprintf("127.0.0.1:%d", udpPort): udpLog, "127.0.0.53:5353": dnsLog} {
		conn, err := net.ListenPacket("udp", addr)
		if err != nil {
			return nil, err
		}
		go s.datagrams(conn, file)
	}
	if err := serveNames("127.0.0.53:53"); err != nil {
		return nil, err
	}
	var err error
	if s.naive, err = serveNaive(fmt.Sprintf("127.0.0.1:%d", proxyPort)); err != nil {
		return nil, err
	}
	s.backend, err = serveBackends()
	return s, err
}

// sockets are the pathname and abstract (leading @) sockets of the session.
func sockets() []string {
	return []string{"/run/docker.sock", "/tmp/tmux-1000/default", "@hostabs", "/run/user/1000/bus", "/run/user/1000/wayland-0",
		"/run/user/1000/gnupg/S.gpg-agent", "/tmp/ssh-agent/agent.1", "/tmp/.X11-unix/X0", "@/tmp/.X11-unix/X0",
		"/run/user/1000/podman/podman.sock", "/dev/shm/app.sock", "/run/systemd/private", "/run/dbus/system_bus_socket"}
}

func listenUnix(path string) error {
	if path[0] != '@' {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		_ = os.Remove(path)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if path[0] != '@' {
		if err := os.Chmod(path, 0o777); err != nil {
			return err
		}
	}
	go accept(l, func(c net.Conn) {
		b := make([]byte, 64)
		if n, _ := c.Read(b); n > 0 {
			_, _ = io.WriteString(c, "HOSTUNIX\n")
		}
	})
	return nil
}

func accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			serve(c)
		}()
	}
}

func (s *services) datagrams(conn net.PacketConn, file string) {
	b := make([]byte, 2048)
	for {
		n, _, err := conn.ReadFrom(b)
		if err != nil {
			return
		}
		s.log(file, b[:n])
	}
}

// terminal opens another terminal of the user; what is written to it goes to a log.
func (s *services) terminal() error {
	master, slave, err := openPty()
	if err != nil {
		return err
	}
	s.tty, s.ttyName = slave, slave.Name()
	go func() {
		b := make([]byte, 2048)
		for {
			n, err := master.Read(b)
			if err != nil {
				return
			}
			s.log(ttyLog, b[:n])
		}
	}()
	return nil
}

// openPty gives a pseudo terminal whose slave the user owns.
func openPty() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	name := fmt.Sprintf("/dev/pts/%d", n)
	if err == nil {
		err = os.Chown(name, uid, uid)
	}
	if err == nil {
		slave, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	}
	return master, slave, err
}

func (s *services) log(file string, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[file] == nil {
		s.seen[file] = &bytes.Buffer{}
	}
	s.seen[file].Write(text)
	if f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644); err == nil {
		_, _ = f.Write(text)
		_ = f.Close()
	}
	s.grew.Broadcast()
}

// settle waits until everything that was sent to a service before has been logged: it sends a last
// word to each and waits for it.
func (s *services) settle() error {
	const last = "LAST-WORD"
	for file, send := range map[string]func() error{
		udpLog: func() error { return datagram(fmt.Sprintf("127.0.0.1:%d", udpPort), last) },
		dnsLog: func() error { return datagram("127.0.0.53:5353", last) },
		ttyLog: func() error { _, err := s.tty.WriteString(last); return err },
	} {
		if err := send(); err != nil {
			return err
		}
		s.mu.Lock()
		for s.seen[file] == nil || !bytes.Contains(s.seen[file].Bytes(), []byte(last)) {
			s.grew.Wait()
		}
		s.seen[file].Reset()
		s.mu.Unlock()
	}
	return nil
}

func datagram(addr, text string) error {
	c, err := net.Dial("udp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, text)
	return err
}

// resetTmp clears /tmp but for the sockets, empties the logs and writes the shared memory anew.
func (s *services) resetTmp() error {
	entries, err := os.ReadDir("/tmp")
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case "tmux-1000", "ssh-agent", ".X11-unix":
		default:
			if err := os.RemoveAll(filepath.Join("/tmp", e.Name())); err != nil {
				return err
			}
		}
	}
	for _, log := range []string{ttyLog, udpLog, dnsLog} {
		if err := os.WriteFile(log, nil, 0o644); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"/dev/shm/hostshm": "SECRET-POSIX-SHM\n", "/tmp/hostsecret": "SECRET-TMP\n",
		dataRoot + "/secrets": "SECRET-OWN\n"} {
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chown(name, uid, uid)); err != nil {
			return err
		}
	}
	for _, name := range []string{"/dev/shm/v19", "/run/user/1000/v20", dataRoot + "/v21", dataRoot + "/run/v21"} {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(naiveLog); err != nil {
		return err
	}
	if s.backend != nil {
		s.naive.reset()
		s.backend.reset()
	}
	return os.WriteFile("/sys/fs/cgroup/user.slice/cgroup.procs", nil, 0o644)
}
