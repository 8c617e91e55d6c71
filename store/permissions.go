package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// Permissions are a person's rules for what agents may do, as texts; see carrel/agent/permission.
type Permissions struct {
	Allow []string `json:"allow"`
	Ask   []string `json:"ask"`
	Deny  []string `json:"deny"`
	Mode  string   `json:"mode"` // of workspaces for which none was chosen; "" is ask
}

// Sandbox says how commands of agents are confined.
type Sandbox struct {
	Enabled        *bool     `json:"enabled"`         // nil is true
	Network        string    `json:"network"`         // allow, deny or allowlist; "" is allow
	AllowedDomains *[]string `json:"allowed_domains"` // nil: the package registries; empty: none
	DeniedDomains  []string  `json:"denied_domains"`
	AllowPrivate   []string  `json:"allow_private"`   // private networks that allowed names may lead to
	DenyRead       []string  `json:"deny_read"`       // files and folders, besides those with credentials
	AllowWrite     []string  `json:"allow_write"`     // folders besides the project
	AllowSSHAgent  bool      `json:"allow_ssh_agent"` // commands may use the SSH agent
	AutoAllow      bool      `json:"auto_allow"`      // in auto mode, confined commands run without a question
}

// On reports whether commands are to be confined at all.
func (s Sandbox) On() bool { return s.Enabled == nil || *s.Enabled }

// Granted is what a person allowed for good when asked, for one project. It is kept in the data root,
// never in the repository.
type Granted struct {
	Allow          []string `json:"allow"`           // rules, for confined commands and files
	AllowOutside   []string `json:"allow_outside"`   // rules that let a command out of the sandbox, too
	AllowedDomains []string `json:"allowed_domains"` // besides those of the settings
	AllowWrite     []string `json:"allow_write"`     // likewise
}

// maxGranted is how many entries each list of a project may have.
const maxGranted = 1000

func grantedFile(project string) (string, error) {
	if project == "" || filepath.Base(project) != project || strings.HasPrefix(project, ".") {
		return "", fmt.Errorf("project %q has no folder", project)
	}
	return filepath.Join("projects", project, "sandbox.jsonc"), nil
}

// Granted reads what was allowed for a project, with the rules of Settings.
func (r *Root) Granted(project string) (Granted, error) {
	name, err := grantedFile(project)
	if err != nil {
		return Granted{}, err
	}
	m, err := r.read(name)
	if err != nil {
		return Granted{}, fmt.Errorf("read what was allowed for project %q: %w", project, err)
	}
	var g Granted
	for key, out := range map[string]*[]string{"allow": &g.Allow, "allow_outside": &g.AllowOutside,
		"allowed_domains": &g.AllowedDomains, "allow_write": &g.AllowWrite} {
		r.decode(name, m, key, out)
	}
	return g, nil
}

// Grant adds texts to one list of a project, such as "allow". Those that are in it already change
// nothing; comments and other edits survive.
func (r *Root) Grant(project, list string, texts ...string) error {
	return r.changeGranted(project, func(v *hujson.Value) error {
		for _, text := range texts {
			if err := appendText(v, list, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// Revoke takes a text out of one list of a project.
func (r *Root) Revoke(project, list, text string) error {
	return r.changeGranted(project, func(v *hujson.Value) error {
		removeText(v, list, text)
		return nil
	})
}

func (r *Root) changeGranted(project string, f func(*hujson.Value) error) error {
	name, err := grantedFile(project)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.Path(name)), 0o700); err != nil {
		return err
	}
	lock, err := r.lockEdits()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	sweepTemps(r.Path(name))
	v, err := r.loadSound(name)
	if err != nil {
		return err
	}
	before := v.Pack()
	if err := f(&v); err != nil {
		return fmt.Errorf("change what is allowed for project %q: %w", project, err)
	}
	after := v.Pack()
	if bytes.Equal(before, after) && exists(r.Path(name)) {
		return nil
	}
	return WriteFile(r.Path(name), after, jsoncMode)
}

// listAt gives the array of that name in the top object, nil when there is none.
func listAt(v *hujson.Value, name string) *hujson.Array {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	i := find(obj, name)
	if i < 0 {
		return nil
	}
	list, _ := obj.Members[i].Value.Value.(*hujson.Array)
	return list
}

func textAt(v hujson.Value) (s string) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || json.Unmarshal(lit, &s) != nil {
		return ""
	}
	return s
}

// appendText adds a text at the end of a list, making the list where there is none.
func appendText(v *hujson.Value, name, text string) error {
	list := listAt(v, name)
	if list == nil || len(list.Elements) == 0 {
		return edit(v, []string{name}, []string{text})
	}
	for _, e := range list.Elements {
		if textAt(e) == text {
			return nil
		}
	}
	if len(list.Elements) >= maxGranted {
		return errors.New("the list is full")
	}
	last := &list.Elements[len(list.Elements)-1]
	fresh := hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.String(text)}
	if last.AfterExtra != nil {
		fresh.AfterExtra = hujson.Extra{}
	}
	if before := string(last.BeforeExtra); strings.Contains(before, "\n") {
		fresh.BeforeExtra = join(list.AfterExtra, hujson.Extra(before[strings.LastIndexByte(before, '\n'):]))
		list.AfterExtra = hujson.Extra(list.AfterExtra[max(0, bytes.LastIndexByte(list.AfterExtra, '\n')):])
		if len(bytes.TrimSpace(list.AfterExtra)) > 0 {
			list.AfterExtra = hujson.Extra("\n")
		}
	}
	list.Elements = append(list.Elements, fresh)
	return nil
}

// removeText takes a text out of a list; comments before it stay.
func removeText(v *hujson.Value, name, text string) {
	list := listAt(v, name)
	if list == nil {
		return
	}
	for i := len(list.Elements) - 1; i >= 0; i-- {
		if textAt(list.Elements[i]) != text {
			continue
		}
		kept := list.Elements[i].BeforeExtra
		list.Elements = append(list.Elements[:i], list.Elements[i+1:]...)
		if i < len(list.Elements) {
			list.Elements[i].BeforeExtra = join(kept, list.Elements[i].BeforeExtra)
		} else {
			list.AfterExtra = join(kept, list.AfterExtra)
		}
	}
}
