package app

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"carrel/store"
)

// SettingOption is one of the values that a setting can have.
type SettingOption struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// SettingSource is where a value comes from.
type SettingSource string

// Where values come from.
const (
	SettingUsual       SettingSource = "default"
	SettingFile        SettingSource = "file"        // settings.jsonc
	SettingEnvironment SettingSource = "environment" // of the core
)

// Setting is one value of settings.jsonc, with where it comes from.
type Setting struct {
	Key     string          `json:"key"`     // its path in settings.jsonc, joined by dots
	Section string          `json:"section"` // of the settings view
	Title   string          `json:"title"`
	Help    string          `json:"help"`
	Kind    SettingKind     `json:"kind"`
	Options []SettingOption `json:"options,omitempty"`
	Least   float64         `json:"least,omitempty"` // of a number
	Most    float64         `json:"most,omitempty"`
	Value   string          `json:"value"`          // what counts, as JSON; that of the file where Source is environment
	Usual   string          `json:"usual"`          // what counts when nothing is set, as JSON
	Note    string          `json:"note,omitempty"` // the default in words, where Usual does not say it
	Source  SettingSource   `json:"source"`
	Line    int             `json:"line,omitempty"`    // in settings.jsonc, where it stands there
	Env     string          `json:"env,omitempty"`     // the variable that sets it now, as NAME=value
	Over    string          `json:"over,omitempty"`    // what else counts more than it, for people
	Problem string          `json:"problem,omitempty"` // what is wrong with the value in the file, which is then ignored
}

// SettingsView is every value of settings.jsonc.
type SettingsView struct {
	File     string    `json:"file"` // its path
	Values   []Setting `json:"values"`
	Problems []Problem `json:"problems"` // with the settings' files
}

// PutSetting changes one value of settings.jsonc.
type PutSetting struct {
	Path  []string `json:"path"`            // of the value; below an object of a panel, one name more
	Value *string  `json:"value,omitempty"` // as JSON; without it the value is taken out of the file
}

func (s settings) Values(context.Context) (SettingsView, error) {
	doc, err := s.app.root.Document()
	if err != nil {
		return SettingsView{}, userError(err)
	}
	v := SettingsView{File: s.app.root.Path("settings.jsonc"), Values: []Setting{}, Problems: []Problem{}}
	env := lookup(s.app.environ)
	for _, spec := range settingSpecs() {
		v.Values = append(v.Values, settingView(&spec, doc, env))
	}
	for _, p := range s.app.root.Problems() {
		if p.Code == store.BadSetting || p.Code == store.CorruptFile {
			v.Problems = append(v.Problems, Problem{Code: p.Code, Message: p.Message, Path: p.Path})
		}
	}
	return v, nil
}

func settingView(spec *settingSpec, doc store.Document, env func(string) string) Setting {
	usual, _ := json.Marshal(spec.usual) // texts, truth values, numbers and lists of texts
	v := Setting{Key: spec.key, Section: spec.section, Title: spec.title, Help: spec.help, Kind: spec.kind, Options: spec.options,
		Least: spec.least, Most: spec.most, Usual: string(usual), Value: string(usual), Note: spec.note, Source: SettingUsual, Over: spec.said}
	if raw, line, ok := doc.At(spec.path()...); ok {
		v.Line = line
		if err := spec.checkKind(raw); err != nil && !bytes.Equal(raw, []byte("null")) && !bytes.Equal(raw, []byte(`""`)) {
			v.Problem = sentence(err)
		} else if err == nil {
			v.Value, v.Source = string(raw), SettingFile
		}
	}
	if spec.env != "" && env(spec.env) != "" {
		v.Source, v.Env = SettingEnvironment, spec.env+"="+short(env(spec.env))
	}
	return v
}

func (s settings) Put(_ context.Context, args PutSetting) error {
	specs := settingSpecs()
	at := slices.IndexFunc(specs, func(spec settingSpec) bool {
		path := spec.path()
		if spec.kind == SettingPanel { // one member of it; the whole can be taken back
			return len(args.Path) == len(path)+1 && slices.Equal(args.Path[:len(path)], path) || args.Value == nil && slices.Equal(args.Path, path)
		}
		return slices.Equal(args.Path, path)
	})
	if at < 0 {
		return badSetting("There is no such setting.")
	}
	spec := &specs[at]
	name := args.Path[len(args.Path)-1]
	if name == "" || len(name) > maxSandboxEntry {
		return badSetting("There is no such setting.")
	}
	var value any
	if args.Value != nil {
		raw := json.RawMessage(*args.Value)
		if spec.kind == SettingPanel && spec.check == nil {
			return badSetting("%s has a part of the settings of its own.", spec.title)
		}
		if !json.Valid(raw) {
			return badSetting("%s: the value can't be read.", spec.title)
		}
		if err := spec.checkKind(raw); err != nil {
			return err
		}
		if spec.check != nil {
			if err := spec.check(s.app, raw); err != nil {
				return err
			}
		}
		value = raw
	}
	if err := s.app.root.SetSetting(args.Path, value); err != nil {
		return userError(err)
	}
	s.app.settingsChanged()
	return nil
}
