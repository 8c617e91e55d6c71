package storm_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// errDied says that the core was killed before it answered.
var errDied = errors.New("the core died")

// patience is how long a core may take for anything, on a busy machine.
const patience = 60 * time.Second

// core is a core process as the person sees it. It is killed now and then, and started again.
type core struct {
	t    *testing.T
	dir  string
	url  string
	size int

	mu      sync.Mutex
	life    *life
	up      chan struct{} // closed while one runs
	offset  time.Duration // of the clock
	closing bool
	kills   int
	states  map[string]*status
	news    map[string]chan struct{} // by conversation; gets one when its state changed
}

// life is one process of a core.
type life struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	said   bytes.Buffer // on stderr
	killed bool
	dead   chan struct{}

	write sync.Mutex
	mu    sync.Mutex
	last  int
	asked map[int]chan told
}

func newCore(t *testing.T, dir, url string, size int) *core {
	c := &core{t: t, dir: dir, url: url, size: size, up: make(chan struct{}), states: map[string]*status{}, news: map[string]chan struct{}{}}
	for i := range size {
		c.news[fmt.Sprint("w", i)] = make(chan struct{}, 1)
	}
	return c
}

// keep runs core after core until one ends by itself.
func (c *core) keep() {
	for c.live() {
	}
}

func (c *core) live() (again bool) {
	l, out, err := c.begin()
	if err != nil {
		c.t.Errorf("start a core: %v", err)
		return false
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var t told
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			break // cut by the kill
		}
		c.hear(l, t)
	}
	err = l.cmd.Wait()
	close(l.dead)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing && err == nil {
		return false
	}
	if !l.killed {
		c.t.Errorf("a core ended by itself: %v\n%s", err, clip(l.said.Bytes()))
		c.closing = true
		return false
	}
	select {
	case <-c.up:
		c.up = make(chan struct{})
	default:
	}
	return !c.closing
}

func (c *core) begin() (*life, io.Reader, error) {
	l := &life{dead: make(chan struct{}), asked: map[int]chan told{}, cmd: exec.Command(os.Args[0])}
	c.mu.Lock()
	offset := c.offset
	c.mu.Unlock()
	l.cmd.Env = append(os.Environ(), coreDir+"="+c.dir, coreURL+"="+c.url, fmt.Sprintf("%s=%d", coreSize, c.size),
		fmt.Sprintf("%s=%d", coreOffset, int64(offset)), "HOME="+c.dir)
	l.cmd.Stderr = &l.said
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if err := l.cmd.Start(); err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	c.life = l
	c.mu.Unlock()
	return l, out, nil
}

func (c *core) hear(l *life, t told) {
	switch {
	case t.W == "ready":
		c.mu.Lock()
		close(c.up)
		c.mu.Unlock()
	case t.ID > 0:
		l.mu.Lock()
		reply := l.asked[t.ID]
		delete(l.asked, t.ID)
		l.mu.Unlock()
		if reply != nil {
			reply <- t
		}
	case t.Status != nil:
		select {
		case c.news[t.W] <- struct{}{}:
		default:
		}
	}
}

// ask gives a command to the core that runs. Its error is errDied, or the test's end.
func (c *core) ask(cmd command) (told, error) {
	deadline := time.After(patience)
	c.mu.Lock()
	up := c.up
	c.mu.Unlock()
	select {
	case <-up:
	case <-deadline:
		return told{}, errors.New("no core comes up")
	}
	c.mu.Lock()
	l := c.life
	c.mu.Unlock()
	reply := make(chan told, 1)
	l.mu.Lock()
	l.last++
	cmd.ID = l.last
	l.asked[cmd.ID] = reply
	l.mu.Unlock()
	line, err := json.Marshal(cmd)
	if err != nil {
		return told{}, err
	}
	l.write.Lock()
	_, err = l.in.Write(append(line, '\n'))
	l.write.Unlock()
	if err != nil {
		<-l.dead
		return told{}, errDied
	}
	select {
	case t := <-reply:
		return t, nil
	case <-l.dead:
		return told{}, errDied
	case <-deadline:
		_ = l.cmd.Process.Signal(syscall.SIGQUIT) // it tells where it hangs
		<-l.dead
		return told{}, fmt.Errorf("the core does not answer %+v: %s", cmd, l.said.String())
	}
}

// kill kills the core that runs.
func (c *core) kill() {
	c.mu.Lock()
	l := c.life
	if l == nil || c.closing {
		c.mu.Unlock()
		return
	}
	l.killed = true
	c.kills++
	c.mu.Unlock()
	_ = l.cmd.Process.Kill()
	<-l.dead
}

// advance puts the clock of the core forward to that moment.
func (c *core) advance(to time.Time) error {
	c.mu.Lock()
	c.offset = max(c.offset, time.Until(to)+time.Millisecond)
	cmd := command{Op: "advance", W: "w0", Offset: c.offset}
	c.mu.Unlock()
	_, err := c.ask(cmd)
	return err
}

// close lets the core end as it should.
func (c *core) close() {
	c.mu.Lock()
	c.closing = true
	l := c.life
	c.mu.Unlock()
	if l == nil {
		return
	}
	_ = l.in.Close()
	select {
	case <-l.dead:
	case <-time.After(patience):
		c.t.Error("a core does not end")
		_ = l.cmd.Process.Kill()
	}
}
