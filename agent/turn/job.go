package turn

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"carrel/agent/model"
	"carrel/agent/picture"
	"carrel/agent/tool"
)

const (
	// keptOutput is how much of a running call's output a Snapshot holds, in bytes.
	keptOutput = 64 << 10
	// maxResultText is the longest text of a result, in bytes. Tools cap far below; this guards the
	// log against one that does not.
	maxResultText = 1 << 20
)

// job is a call that a tool is working on.
type job struct {
	call
	readOnly bool
	started  time.Time
	done     chan struct{} // closed when the tool has returned
	output   []byte
	omitted  int64
}

// grow keeps a chunk of output, dropping the oldest when it is too much.
func (j *job) grow(chunk string) {
	j.output = append(j.output, chunk...)
	if len(j.output) < 2*keptOutput {
		return
	}
	j.trim()
}

func (j *job) trim() {
	cut := max(0, len(j.output)-keptOutput)
	for cut < len(j.output) && !utf8.RuneStart(j.output[cut]) {
		cut++
	}
	j.omitted += int64(cut)
	j.output = append(j.output[:0], j.output[cut:]...)
}

func (j *job) running(stepSeq uint64) Running {
	j.trim()
	return Running{
		CallID: j.part.CallID, Tool: j.part.Name, StepSeq: stepSeq, Part: j.index, Started: j.started,
		Output: string(j.output), Omitted: j.omitted,
	}
}

// fitted makes the pictures of a result fit for models. It can take a while, so it runs on the
// tool's goroutine. A picture that can't be sent is a text that says why, and fails the call.
func fitted(res tool.Result) tool.Result {
	for i, p := range res.Parts {
		if p.Kind != model.File || p.Blob != "" || !strings.HasPrefix(p.Mime, "image/") {
			continue
		}
		data, mime, err := picture.Fit(p.Data, p.Mime)
		if err != nil {
			p, res.IsError = model.Part{Kind: model.Text, Text: fmt.Sprintf("[a picture was left out: %v]", err)}, true
		}
		p.Data, p.Mime = data, mime
		res.Parts = slices.Clone(res.Parts)
		res.Parts[i] = p
	}
	return res
}

// keepable makes the parts of a result fit for the log: files go to the blobs, a text that is far
// too long is cut.
func (c *Conversation) keepable(parts []model.Part) []model.Part {
	out := make([]model.Part, 0, len(parts))
	for _, p := range parts {
		if p.Kind == model.File && p.Blob == "" {
			hash, err := c.log.PutBlob(p.Data, p.Mime)
			if err != nil {
				p = model.Part{Kind: model.Text, Text: fmt.Sprintf("[a file was left out: %v]", err)}
			}
			p.Blob, p.Data = hash, nil
		}
		if n := len(p.Text); n > maxResultText {
			p.Text = strings.ToValidUTF8(p.Text[:maxResultText], "") + fmt.Sprintf("\n[cut: %d more bytes]", n-maxResultText)
		}
		out = append(out, p)
	}
	return out
}
