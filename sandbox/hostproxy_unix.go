//go:build unix

package sandbox

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
)

// hostProxy serves the proxy on a port of the machine's loopback, for tiers without a network
// namespace: whoever knows the port reaches it, so credentials decide.
type hostProxy struct {
	proxy   Proxy
	serving sync.WaitGroup

	mu   sync.Mutex
	at   *net.TCPAddr // once it is wanted
	stop context.CancelFunc
}

// admit opens the proxy to a command, and gives its port.
func (h *hostProxy) admit(j *job) (port uint16, release func(), err error) {
	at, err := h.listen()
	if err != nil {
		return 0, nil, err
	}
	env, release, err := h.proxy.Admit(j.command.Name, j.policy, Way{Address: at.String(), Helper: j.plan.Helper})
	if err != nil {
		return 0, nil, fmt.Errorf("admit command to proxy: %w", err)
	}
	j.plan.Env = slices.Concat(j.plan.Env, env)
	return uint16(at.Port), release, nil
}

// listen starts serving, once.
func (h *hostProxy) listen() (*net.TCPAddr, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at != nil {
		return h.at, nil
	}
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("open proxy: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop, h.at = stop, l.Addr().(*net.TCPAddr)
	h.serving.Go(func() { h.proxy.Serve(ctx, Listeners{Proxy: l}) })
	return h.at, nil
}

func (h *hostProxy) close() {
	h.mu.Lock()
	if h.stop != nil {
		h.stop()
	}
	h.mu.Unlock()
	h.serving.Wait()
}
