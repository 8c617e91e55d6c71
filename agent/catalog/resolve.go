package catalog

import (
	"time"

	"carrel/agent/model"
	"carrel/agent/model/demo"
)

// Choice is what a person chose for a workspace or a message.
type Choice struct {
	Model string // provider:id or a short name
	Level Level
	// Pro asks for OpenAI's pro mode, Cyber for its cyber programs. They exclude each other; where a
	// model or its route has no such thing, the choice has no effect.
	Pro, Cyber bool
}

// Resolved is a model ready to be asked.
type Resolved struct {
	ID        string // provider:id, also when it was asked for by a short name
	Streamer  model.Streamer
	Model     string // the provider's own id
	Info      Info
	Level     Level    // the one that it will think with; "" is the provider's default
	Fallbacks []string // models to try when it refuses to answer
	Via       string   // "coder:provider/model" when a native model goes through Coder; "" it does not
	// Prepare fills in what the settings and the catalogue say of a request: Model, Thinking, MaxTokens
	// (unless the request has one), Params, Tier, Native, Cyber and CacheHour. The same request always
	// becomes the same.
	Prepare func(*model.Request)
}

// Resolve makes the client of a model and what fills in its requests. Every error is a *ConfigError.
func (c *Catalog) Resolve(ch Choice) (Resolved, error) {
	own := c.models()
	provider, name, err := c.split(ch.Model, own)
	if err != nil {
		return Resolved{}, err
	}
	level, err := ParseLevel(string(ch.Level))
	if err != nil {
		return Resolved{}, err
	}
	if provider == "demo" {
		return c.demo(name)
	}
	if ch.Pro && ch.Cyber {
		return Resolved{}, &ConfigError{BadChoice, "Pro mode and cyber mode exclude each other. Turn one of them off."}
	}
	s, ok := c.one(provider)
	if !ok {
		return Resolved{}, unknownProvider(provider)
	}
	info := c.info(s, provider, name, own)
	via, sent := "", name
	switch route, no := c.route(s, name); {
	case no != nil:
		return Resolved{}, no
	case route != "":
		via = viaCoder(route)
		s, _ = c.one(coderID)
		s, sent, err = c.through(s, route)
	case s.wire == Coder:
		s, sent, err = c.through(s, name)
	}
	if err != nil {
		return Resolved{}, err
	}
	client, err := s.client(info.row, c.http, c.cache)
	if err != nil {
		return Resolved{}, err
	}
	level = clamp(info.Levels, info.DefaultLevel, level)
	if len(info.Levels) == 0 && !info.Known { // nobody knows what it allows: as the person says
		level = unclamped(ch.Level)
	}
	r := Resolved{ID: info.ID, Streamer: client, Model: s.sent(sent), Info: info, Level: level, Fallbacks: c.Fallbacks(info.ID), Via: via}
	r.Prepare, err = s.prepare(r, ch)
	if err != nil {
		return Resolved{}, err
	}
	return r, nil
}

// unclamped reads a level for a model that nobody knows, as if it had the usual ones.
func unclamped(l Level) Level {
	if l, err := ParseLevel(string(l)); err == nil {
		return clamp([]Level{Off, Low, Medium, High}, Default, l)
	}
	return Default
}

// demo is the offline model.
func (c *Catalog) demo(name string) (Resolved, error) {
	if name != "demo" {
		return Resolved{}, &ConfigError{BadModel, "The only demo model is demo:demo."}
	}
	return Resolved{ID: demo.ID, Streamer: demo.New(demo.Options{Delay: c.demoDelay()}), Model: "demo", Info: demoInfo(),
		Prepare: func(r *model.Request) { r.Model = "demo" }}, nil
}

// demoDelay is the demo's delay: CARREL_DEMO_DELAY, such as 5ms or 0, else the default.
func (c *Catalog) demoDelay() time.Duration {
	d, err := time.ParseDuration(c.env("CARREL_DEMO_DELAY"))
	switch {
	case err != nil || d < 0:
		return demo.DefaultDelay
	case d == 0:
		return demo.NoDelay
	}
	return d
}
