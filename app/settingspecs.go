package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"carrel/agent/catalog"
	"carrel/agent/permission"
)

// SettingKind is what a setting's value looks like.
type SettingKind string

// The kinds of settings.
const (
	SettingChoice SettingKind = "choice" // one of its options
	SettingSwitch SettingKind = "switch" // true or false
	SettingNumber SettingKind = "number" // between its least and most
	SettingText   SettingKind = "text"
	SettingList   SettingKind = "list"  // of texts
	SettingModel  SettingKind = "model" // provider:id, or "" for the first that is set up
	SettingPanel  SettingKind = "panel" // an object that a section of its own edits
)

// settingSpec declares one value of settings.jsonc. The settings view, its search and docs/settings.md
// are made from the list below: a feature adds its lines.
type settingSpec struct {
	key     string // its path in settings.jsonc, joined by dots
	section string // of the settings view
	title   string
	help    string
	kind    SettingKind
	options []SettingOption
	usual   any    // without it in the file
	note    string // the default in words, where usual does not say it
	env     string // the variable of the environment that counts more
	said    string // what else counts more, for people
	least   float64
	most    float64
	check   func(a *App, raw json.RawMessage) error // besides the kind
}

func (s *settingSpec) path() []string { return strings.Split(s.key, ".") }

// settingSpecs lists every value, in the order of the view.
func settingSpecs() []settingSpec {
	return slices.Concat(generalSpecs(), permissionSpecs(), sandboxSpecs(), []settingSpec{
		{key: "outputLevel", section: "general", title: "Level of the output", kind: SettingChoice, usual: "info",
			options: []SettingOption{{"debug", "Everything"}, {"info", "Info and above"}, {"warn", "Warnings and errors"}, {"error", "Errors only"}},
			help:    "What the Output tab shows of the core's log."},
		{key: "models", section: "models", title: "What you know of models", kind: SettingPanel, usual: map[string]any{},
			help: "Names, limits, levels and prices of models, by provider:id. See docs/models.md."},
		{key: "modelFallbacks", section: "models", title: "Fallbacks", kind: SettingPanel, usual: map[string]any{},
			help: "Which models are asked when one refuses, by its provider:id."},
		{key: "keys", section: "keys", title: "Keys", kind: SettingPanel, usual: map[string]any{}, check: checkKeys,
			help: "The keys of a command, by its id, in place of the usual ones. See docs/shortcuts.md."},
	})
}

func generalSpecs() []settingSpec {
	return []settingSpec{
		{key: "theme", section: "general", title: "Theme", kind: SettingChoice, usual: "system",
			options: []SettingOption{{"system", "Like the system"}, {"light", "Light"}, {"dark", "Dark"}},
			help:    "How the page looks."},
		{key: "density", section: "general", title: "Density", kind: SettingChoice, usual: "comfortable",
			options: []SettingOption{{"comfortable", "Comfortable"}, {"compact", "Compact"}},
			help:    "How closely things stand. On a phone they keep the size of a finger."},
		{key: "defaultModel", section: "general", title: "Default model", kind: SettingModel, usual: "", check: checkModel,
			help: "New workspaces start with it. Each workspace can have its own."},
		{key: "vim", section: "general", title: "Vim mode in the composer", kind: SettingSwitch, usual: true,
			help: "Esc goes to normal mode, and i, a or o back to writing. Off, Esc stops the agent."},
		{key: "editor", section: "general", title: "Editor", kind: SettingChoice, usual: "", options: editorOptions(), note: "the first that is installed",
			help: "What opens files and workspaces outside Carrel."},
		{key: "gpu", section: "general", title: "Drawing of the window", kind: SettingChoice, usual: "auto", env: "CARREL_GPU",
			options: []SettingOption{{"auto", "With the GPU where there is one"}, {"always", "Always with the GPU"}, {"never", "Never with the GPU"}},
			help:    "Counts from the window's next start. Never helps where a window stays blank."},
	}
}

// editorOptions are the editors that we know; that it is not installed is told when it is opened.
func editorOptions() []SettingOption {
	options := []SettingOption{{"", "The first that is installed"}}
	for _, e := range editorSpecs() {
		if !e.terminal {
			options = append(options, SettingOption{e.id, e.name})
		}
	}
	return options
}

func permissionSpecs() []settingSpec {
	rules := func(key, title, help string) settingSpec {
		return settingSpec{key: "permissions." + key, section: "permissions", title: title, help: help, kind: SettingList, usual: []string{}, check: checkRules}
	}
	return []settingSpec{
		{key: "permissions.mode", section: "permissions", title: "Mode", kind: SettingChoice, usual: string(permission.ModeAsk), env: "CARREL_MODE",
			said: "a workspace's own mode, and carrel run --mode",
			options: []SettingOption{{string(permission.ModeAsk), "Ask"}, {string(permission.ModeAcceptEdits), "Accept edits"},
				{string(permission.ModePlan), "Plan: nothing writes"}, {string(permission.ModeAuto), "Auto"}, {string(permission.ModeBypass), "Bypass: everything runs"}},
			help: "How much runs without a question, in workspaces for which none was chosen."},
		rules("allow", "Allow", "What runs without a question, one rule a line, such as Bash(go test:*)."),
		rules("ask", "Always ask", "What asks in every mode but bypass, one rule a line."),
		rules("deny", "Deny", "What never runs, one rule a line. A denial beats a question, a question beats a permission."),
	}
}

func sandboxSpecs() []settingSpec {
	list := func(key, title, help string) settingSpec {
		return settingSpec{key: "sandbox." + key, section: "sandbox", title: title, help: help, kind: SettingList, usual: []string{}}
	}
	specs := []settingSpec{
		{key: "sandbox.enabled", section: "sandbox", title: "Confine commands", kind: SettingSwitch, usual: true, env: "CARREL_SANDBOX",
			said: "a workspace's switch, and carrel run --sandbox",
			help: "Commands of agents write only in the project and can't read your credentials. Off, they can do all that you can."},
		{key: "sandbox.network", section: "sandbox", title: "Network", kind: SettingChoice, usual: "allow",
			options: []SettingOption{{"allow", "Every host"}, {"allowlist", "Listed hosts only"}, {"deny", "No host"}},
			help:    "What confined commands reach. A list is held by a filtering proxy, which shows what it refused."},
		list("allowed_domains", "Allowed hosts", "For a network of listed hosts, one a line. Without the setting, the package registries; an empty list is none."),
		list("denied_domains", "Denied hosts", "They win over allowed ones, also over what was allowed for a project."),
		list("allow_private", "Private networks", "Where allowed hosts may be though no one outside reaches them, such as 10.20.0.0/16 for a company's registry. Without an entry, none."),
		list("deny_read", "Also not readable", "Files and folders besides those with credentials, such as ~/notes."),
		list("allow_write", "Also writable", "Folders besides the project, such as ~/shared."),
		{key: "sandbox.allow_ssh_agent", section: "sandbox", title: "Lend commands the SSH agent", kind: SettingSwitch, usual: false,
			help: "For git over SSH. Commands could then sign in wherever your keys can."},
		{key: "sandbox.auto_allow", section: "sandbox", title: "In auto mode, run confined commands without a question", kind: SettingSwitch, usual: false,
			help: "What the sandbox can't hold still asks."},
	}
	specs[2].note = "the package registries"
	for i := range specs {
		specs[i].check = checkSandbox(specs[i].path()[1])
	}
	return specs
}

// Bounds of what the settings view writes.
const (
	maxKeys = 8  // of one command
	maxKey  = 64 // bytes of one
)

func badSetting(format string, args ...any) error {
	return &Error{Code: "bad_request", Message: fmt.Sprintf(format, args...)}
}

// checkKind refuses what the kind can't have. An object of a panel is checked by its own check.
func (s *settingSpec) checkKind(raw json.RawMessage) error {
	var text string
	var number float64
	var on bool
	switch s.kind {
	case SettingChoice:
		if json.Unmarshal(raw, &text) != nil || !slices.ContainsFunc(s.options, func(o SettingOption) bool { return o.Value == text }) {
			var names []string
			for _, o := range s.options {
				names = append(names, o.Value)
			}
			return badSetting("%s must be one of %s.", s.title, strings.Join(names, ", "))
		}
	case SettingSwitch:
		if json.Unmarshal(raw, &on) != nil {
			return badSetting("%s must be true or false.", s.title)
		}
	case SettingNumber:
		if json.Unmarshal(raw, &number) != nil || number < s.least || number > s.most {
			return badSetting("%s must be a number from %v to %v.", s.title, s.least, s.most)
		}
	case SettingText, SettingModel:
		if json.Unmarshal(raw, &text) != nil || len(text) > maxSandboxEntry {
			return badSetting("%s must be a short text.", s.title)
		}
	case SettingList:
		var list []string
		if json.Unmarshal(raw, &list) != nil || list == nil || len(list) > maxSandboxEntries {
			return badSetting("%s must be a list of at most %d texts.", s.title, maxSandboxEntries)
		}
	case SettingPanel:
	}
	return nil
}

func checkModel(a *App, raw json.RawMessage) error {
	var id string
	if err := json.Unmarshal(raw, &id); err != nil || id == "" {
		return err
	}
	_, err := a.catalog.Resolve(catalog.Choice{Model: id})
	return userError(err)
}

func checkRules(_ *App, raw json.RawMessage) error {
	var rules []string
	if err := json.Unmarshal(raw, &rules); err != nil {
		return err
	}
	for _, text := range rules {
		if _, err := permission.ParseRule(text); err != nil {
			return &Error{Code: "bad_rule", Message: fmt.Sprintf("The rule %q can't be read.", short(text)), Cause: err}
		}
	}
	return nil
}

// checkSandbox checks one value of the sandbox as its own settings are.
func checkSandbox(key string) func(*App, json.RawMessage) error {
	return func(_ *App, raw json.RawMessage) error {
		s := SandboxSettings{Network: "allow"}
		var list []string
		if err := json.Unmarshal(raw, &list); err == nil {
			switch key {
			case "allowed_domains":
				s.AllowedDomains = list
			case "denied_domains":
				s.DeniedDomains = list
			case "allow_private":
				s.AllowPrivate = list
			case "deny_read":
				s.DenyRead = list
			case "allow_write":
				s.AllowWrite = list
			}
		}
		return s.check()
	}
}

// checkKeys checks the keys of one command; whether a key is one only the page knows.
func checkKeys(_ *App, raw json.RawMessage) error {
	var keys []string
	if err := json.Unmarshal(raw, &keys); err != nil || keys == nil || len(keys) > maxKeys {
		return badSetting("A command has a list of at most %d keys.", maxKeys)
	}
	for _, k := range keys {
		if k == "" || len(k) > maxKey {
			return badSetting("A key is a text such as Mod+Shift+K.")
		}
	}
	return nil
}
