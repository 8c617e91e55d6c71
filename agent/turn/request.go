package turn

import (
	"slices"

	"carrel/agent/model"
)

// request builds the request of a step. It is a function of the log, the system prompt and the
// tools, so that each request begins with the bytes of the one before.
func (c *Conversation) request(t *openTurn) (*model.Request, error) {
	history, err := c.log.History()
	if err != nil {
		return nil, err
	}
	msgs := model.Repair(history)
	for i := range msgs {
		if msgs[i].Parts, err = c.withData(msgs[i].Parts); err != nil {
			return nil, err
		}
	}
	req := &model.Request{Model: t.end.Name, System: *c.system, Messages: msgs, Tools: c.specs, CacheKey: c.cfg.Workspace}
	if t.end.Prepare != nil {
		t.end.Prepare(req)
	}
	return req, nil
}

// withData fills the data of files from the blobs, in a copy where there are any. A file whose blob
// is lost becomes a text that says so.
func (c *Conversation) withData(parts []model.Part) ([]model.Part, error) {
	copied := false
	for i, p := range parts {
		file := p.Kind == model.File && p.Blob != "" && p.Data == nil
		if !file && len(p.Parts) == 0 {
			continue
		}
		if file {
			data, err := c.log.Blob(p.Blob)
			if err != nil {
				p = model.Part{Kind: model.Text, Text: "[a file that was here is lost]"}
			}
			p.Data = data
		} else {
			inner, err := c.withData(p.Parts)
			if err != nil {
				return nil, err
			}
			p.Parts = inner
		}
		if !copied {
			parts, copied = slices.Clone(parts), true
		}
		parts[i] = p
	}
	return parts, nil
}
