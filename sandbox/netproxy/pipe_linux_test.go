package netproxy

import (
	"sync"
	"testing"
)

// pipesMade counts the pipes of a proxy: those that wait, and those that a tunnel holds.
func pipesMade(p *Proxy) (idle, lent int) {
	s := &p.carriers.pipes
	idle = len(s.idle)
	return idle, maxPipes - len(s.spare) - idle
}

func TestRelaysBeyondThePipesUseBuffers(t *testing.T) {
	p := New(Config{})
	for range maxPipes {
		<-p.carriers.pipes.spare
	}
	client, front := socketPair(t)
	host, back := socketPair(t)
	done := make(chan struct{})
	go func() { p.relay(front, back, nil); close(done) }()
	data := make([]byte, 1<<20)
	var wait sync.WaitGroup
	wait.Go(func() { send(t, client, data) })
	wait.Go(func() { expect(t, host, data); _ = host.Close() })
	wait.Wait()
	<-done
	if idle, _ := pipesMade(p); idle != 0 {
		t.Errorf("%d pipes", idle)
	}
}

func TestPipesAreGivenBack(t *testing.T) {
	p := New(Config{})
	client, front := socketPair(t)
	host, back := socketPair(t)
	done := make(chan struct{})
	go func() { p.relay(front, back, []byte("x")); close(done) }()
	expectSome(t, host, 1)
	send(t, client, make([]byte, 100))
	expect(t, host, make([]byte, 100))
	_ = host.Close()
	<-done
	if idle, lent := pipesMade(p); lent != 0 || idle == 0 {
		t.Errorf("%d idle, %d lent", idle, lent)
	}
	p.carriers.drain()
	if idle, lent := pipesMade(p); idle != 0 || lent != 0 {
		t.Errorf("after drain %d idle, %d lent", idle, lent)
	}
}

func expectSome(t *testing.T, c interface{ Read([]byte) (int, error) }, n int) {
	for n > 0 {
		m, err := c.Read(make([]byte, n))
		if err != nil {
			t.Fatal(err)
		}
		n -= m
	}
}
