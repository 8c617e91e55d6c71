package bedrock

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// media is the media type of an event stream.
const media = "application/vnd.amazon.eventstream"

// prelude is the length of a frame's beginning: its length, that of its headers, their checksum.
const prelude = 12

// eachFrame reads an event stream to its end. Exceptions in it become errors.
func eachFrame(r *bufio.Reader, event func(name string, payload []byte) error) error {
	d := eventstream.NewDecoder()
	var frame, payload []byte
	for {
		head, err := r.Peek(prelude)
		switch {
		case errors.Is(err, io.EOF) && len(head) == 0:
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		n := binary.BigEndian.Uint32(head)
		if crc32.ChecksumIEEE(head[:8]) != binary.BigEndian.Uint32(head[8:]) || n < prelude+4 || n > wire.MaxLine {
			return damaged(eventstream.ChecksumError{})
		}
		frame = slices.Grow(frame[:0], int(n))[:n]
		if _, err := io.ReadFull(r, frame); err != nil {
			if errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		m, err := d.Decode(bytes.NewReader(frame), payload[:0])
		if err != nil {
			return damaged(err)
		}
		payload = m.Payload
		if kind := header(m, ":message-type"); kind != "" && kind != "event" {
			return exception(m)
		}
		if err := event(header(m, ":event-type"), m.Payload); err != nil {
			return err
		}
	}
}

func damaged(err error) error {
	return &model.Error{Kind: model.ErrNetwork, Message: "a piece of the response arrived damaged", Cause: err}
}

func header(m eventstream.Message, name string) string {
	if v, ok := m.Headers.Get(name).(eventstream.StringValue); ok {
		return string(v)
	}
	return ""
}

// exception is the error that a frame tells of.
func exception(m eventstream.Message) error {
	if code := header(m, ":error-code"); code != "" {
		return failure(0, code, header(m, ":error-message"))
	}
	var said struct {
		Message  string `json:"message"`
		Original string `json:"originalMessage"` // of the model behind
	}
	text := ""
	if json.Unmarshal(m.Payload, &said) == nil {
		text = said.Message
		if said.Original != "" && said.Original != text {
			text += ": " + said.Original
		}
	}
	return failure(0, header(m, ":exception-type"), text)
}
