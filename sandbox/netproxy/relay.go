package netproxy

import (
	"io"
	"net"
	"time"
)

// afterwards is how long a client may still send after its host has finished.
const afterwards = 30 * time.Second

// relay sends read to upstream, then carries both directions until both have ended or one failed. It
// returns how many bytes went out (read included) and came in. Closing either connection ends it.
func (p *Proxy) relay(client, upstream net.Conn, read []byte) (sent, received int64) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		n, err := upstream.Write(read)
		sent = int64(n)
		if err == nil {
			var more int64
			more, err = p.carriers.copy(upstream, client)
			sent += more
		}
		finish(upstream, client, err)
	}()
	received, err := p.carriers.copy(client, upstream)
	finish(client, upstream, err)
	_ = client.SetReadDeadline(time.Now().Add(afterwards))
	<-done
	_ = upstream.Close() // the client is closed by its owner
	return sent, received
}

// finish ends dst after the last byte from src, and both when that direction failed.
func finish(dst, src net.Conn, err error) {
	w, ok := dst.(interface{ CloseWrite() error })
	if err == nil && ok && w.CloseWrite() == nil {
		return
	}
	_ = dst.Close()
	_ = src.Close()
}

// copyPlain is the copy for connections that are no sockets of the system.
func copyPlain(dst io.Writer, src io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, make([]byte, 16<<10))
}
