package jail

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of a frame. The kernel passes at most 253 descriptors at once.
const (
	maxFrame = 16 << 20 // bytes
	maxFiles = 250
)

// Conn is a socket that carries messages with descriptors. One goroutine may receive while others
// send. Descriptors that arrive are closed on exec; those that nobody takes are closed.
type Conn struct {
	file *os.File
	raw  syscall.RawConn
	send sync.Mutex
}

// NewConn takes over a stream socket.
func NewConn(fd int) (*Conn, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("prepare socket: %w", err)
	}
	file := os.NewFile(uintptr(fd), "sandbox")
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("prepare socket: %w", err)
	}
	return &Conn{file: file, raw: raw}, nil
}

// Pair makes two connected sockets, both closed on exec.
func Pair() (ours, theirs int, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("make socket pair: %w", err)
	}
	return fds[0], fds[1], nil
}

// Close ends the socket; the other side sees io.EOF.
func (c *Conn) Close() error { return c.file.Close() }

// SetDeadline bounds sending and receiving; the zero time lifts the bound.
func (c *Conn) SetDeadline(t time.Time) error { return c.file.SetDeadline(t) }

// Send writes one message; files stay the caller's.
func (c *Conn) Send(m Message, files ...int) error {
	body, err := json.Marshal(wrap(m))
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.Kind, err)
	}
	if len(body) > maxFrame || len(files) > maxFiles {
		return fmt.Errorf("send %s: %d bytes and %d files: %w", m.Kind, len(body), len(files), unix.EMSGSIZE)
	}
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, len(body)+4), uint32(len(body)))
	frame = append(frame, body...)
	c.send.Lock()
	defer c.send.Unlock()
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	for len(frame) > 0 {
		n, err := c.sendSome(frame, rights)
		if err != nil {
			return fmt.Errorf("send %s: %w", m.Kind, err)
		}
		frame, rights = frame[n:], nil
	}
	return nil
}

func (c *Conn) sendSome(b, rights []byte) (n int, err error) {
	werr := c.raw.Write(func(fd uintptr) bool {
		n, err = unix.SendmsgN(int(fd), b, rights, nil, unix.MSG_NOSIGNAL)
		return !errors.Is(err, unix.EAGAIN)
	})
	return n, errors.Join(werr, err)
}

// Receive reads one message and the descriptors that came with it. io.EOF says that the other side
// is gone.
func (c *Conn) Receive() (Message, []int, error) {
	var m Message
	var head [4]byte
	files, err := c.fill(head[:])
	if err != nil {
		CloseAll(files)
		return m, nil, err
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size > maxFrame {
		CloseAll(files)
		return m, nil, fmt.Errorf("receive message of %d bytes: %w", size, unix.EMSGSIZE)
	}
	body := make([]byte, size)
	more, err := c.fill(body)
	files = append(files, more...)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		CloseAll(files)
		return m, nil, fmt.Errorf("receive message: %w", err)
	}
	return unwrap(m), files, nil
}

// fill reads until b is full.
func (c *Conn) fill(b []byte) ([]int, error) {
	var files []int
	for off := 0; off < len(b); {
		n, fds, err := c.receiveSome(b[off:])
		files = append(files, fds...)
		if err == nil && n == 0 {
			err = io.EOF
			if off > 0 {
				err = io.ErrUnexpectedEOF
			}
		}
		if err != nil {
			return files, err
		}
		off += n
	}
	return files, nil
}

func (c *Conn) receiveSome(b []byte) (n int, files []int, err error) {
	oob := make([]byte, unix.CmsgSpace(4*maxFiles))
	var oobn, flags int
	rerr := c.raw.Read(func(fd uintptr) bool {
		n, oobn, flags, _, err = unix.Recvmsg(int(fd), b, oob, unix.MSG_CMSG_CLOEXEC)
		return !errors.Is(err, unix.EAGAIN)
	})
	if err = errors.Join(rerr, err); err != nil {
		if errors.Is(err, unix.ECONNRESET) || errors.Is(err, os.ErrClosed) {
			err = io.EOF
		}
		return 0, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	for i := range messages {
		fds, perr := unix.ParseUnixRights(&messages[i])
		err = errors.Join(err, perr)
		files = append(files, fds...)
	}
	if flags&unix.MSG_CTRUNC != 0 {
		err = errors.Join(err, fmt.Errorf("receive descriptors: %w", unix.EMFILE))
	}
	return n, files, err
}

// CloseAll closes descriptors that came with a message.
func CloseAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// failure makes an error of step and object out of a cause.
func failure(step, object string, err error) *Failure {
	f := &Failure{Step: step, Object: object, Text: err.Error()}
	var e syscall.Errno
	if errors.As(err, &e) {
		f.Errno = int(e)
	}
	return f
}
