package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"hash"
)

// digestStep is how many bytes lie between two places from which a digest can go on.
const digestStep = 32 << 10

// digest is what was hashed of a conversation's last request, so that only what the next one has beyond
// their common beginning is hashed again: a signature hashes the whole body.
type digest struct {
	chunks [][]byte
	places []place
}

// place is the state of the hash before a chunk.
type place struct {
	chunk int
	state []byte
}

// sum hashes a body and keeps what the next one needs.
func (d *digest) sum(chunks [][]byte) [sha256.Size]byte {
	h, at := d.resume(chunks)
	written := 0
	for i := at; i < len(chunks); i++ {
		_, _ = h.Write(chunks[i]) // never fails
		if written += len(chunks[i]); written >= digestStep {
			d.note(h, i+1)
			written = 0
		}
	}
	d.chunks = chunks
	return [sha256.Size]byte(h.Sum(nil))
}

// resume gives the hash of a body's beginning that was hashed before, and the chunk that comes next.
func (d *digest) resume(chunks [][]byte) (hash.Hash, int) {
	same := 0
	for same < len(chunks) && same < len(d.chunks) && bytes.Equal(chunks[same], d.chunks[same]) {
		same++
	}
	for n := len(d.places); n > 0 && d.places[n-1].chunk > same; n-- {
		d.places = d.places[:n-1]
	}
	h := sha256.New()
	if n := len(d.places); n > 0 {
		if u, ok := h.(encoding.BinaryUnmarshaler); ok && u.UnmarshalBinary(d.places[n-1].state) == nil {
			return h, d.places[n-1].chunk
		}
		d.places = nil
		h.Reset()
	}
	return h, 0
}

func (d *digest) note(h hash.Hash, chunk int) {
	m, ok := h.(encoding.BinaryMarshaler)
	if !ok {
		return
	}
	if state, err := m.MarshalBinary(); err == nil {
		d.places = append(d.places, place{chunk, state})
	}
}

// SHA256 hashes the body. What it has in common with the request before of the same conversation is not
// hashed again.
func (p *Payload) SHA256() [sha256.Size]byte {
	if p.cache == nil {
		return new(digest).sum(p.chunks)
	}
	h := p.cache.take(p.key)
	defer func() {
		if len(h.out) > 0 { // else another request has it, or it was too large to keep
			p.cache.put(p.key, h)
		}
	}()
	return h.digest.sum(p.chunks)
}
