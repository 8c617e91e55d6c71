package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"

	"carrel/sandbox/jail"
)

// Where a proxy listens in a network namespace. The names are asked for at any address that the
// machine's own configuration names.
const (
	atProxy = "127.0.0.1:0"
	atHTTP  = "[::]:80"
	atTLS   = "[::]:443"
	atSSH   = "[::]:22"
)

// endpoints are what the proxy serves in one network namespace.
func endpoints() []jail.Endpoint {
	all := []jail.Endpoint{{Address: atProxy}, {Address: atHTTP}, {Address: atTLS}, {Address: atSSH}}
	for i, address := range nameServers() {
		all = append(all, jail.Endpoint{UDP: true, Address: address, Optional: i > 0})
	}
	return all
}

// takeListeners makes listeners of descriptors, which are closed.
func takeListeners(have []jail.Endpoint, fds []int) (l Listeners, err error) {
	if len(have) != len(fds) {
		jail.CloseAll(fds)
		return l, fmt.Errorf("take listeners: %d descriptors for %d addresses", len(fds), len(have))
	}
	for i, e := range have {
		f := os.NewFile(uintptr(fds[i]), e.Address)
		var ferr error
		switch {
		case e.UDP:
			var c net.PacketConn
			if c, ferr = net.FilePacketConn(f); ferr == nil {
				l.Names = append(l.Names, c)
			}
		case e.Address == atProxy:
			l.Proxy, ferr = net.FileListener(f)
		case e.Address == atHTTP:
			l.HTTP, ferr = net.FileListener(f)
		case e.Address == atTLS:
			l.TLS, ferr = net.FileListener(f)
		case e.Address == atSSH:
			l.SSH, ferr = net.FileListener(f)
		}
		err = errors.Join(err, ferr, f.Close())
	}
	if err != nil {
		l.Close()
		return l, fmt.Errorf("take listeners: %w", err)
	}
	return l, nil
}
