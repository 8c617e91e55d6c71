package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"carrel/workspaces/runtime"
)

// editorSpec is a program that opens a folder or a file. What is installed is found by its name in the
// person's PATH or by one of its usual places.
type editorSpec struct {
	id, name string
	programs []string // names, or absolute paths; ~ is the person's home
	terminal bool
	inside   bool // it runs in a terminal of Carrel's
	// argv are the arguments: dir is absolute, file too, or "" for the folder alone; line is 0 when not given.
	argv func(dir, file string, line int) []string
}

// editorSpecs are the programs that we know, in the order in which they are offered.
func editorSpecs() []editorSpec {
	toolbox := "~/.local/share/JetBrains/Toolbox/scripts/"
	return []editorSpec{
		{id: "vscode", name: "VS Code", argv: gotoArgs, programs: []string{"code", "codium", "/Applications/Visual Studio Code.app/Contents/Resources/app/bin/code"}},
		{id: "cursor", name: "Cursor", argv: gotoArgs, programs: []string{"cursor", "/Applications/Cursor.app/Contents/Resources/app/bin/cursor"}},
		{id: "zed", name: "Zed", argv: zedArgs, programs: []string{"zed", "zeditor", "~/.local/bin/zed", "/Applications/Zed.app/Contents/MacOS/cli"}},
		{id: "goland", name: "GoLand", argv: jetbrainsArgs, programs: []string{"goland", toolbox + "goland", "/Applications/GoLand.app/Contents/MacOS/goland"}},
		{id: "idea", name: "IntelliJ IDEA", argv: jetbrainsArgs, programs: []string{"idea", toolbox + "idea", "/Applications/IntelliJ IDEA.app/Contents/MacOS/idea"}},
		{id: "webstorm", name: "WebStorm", argv: jetbrainsArgs, programs: []string{"webstorm", toolbox + "webstorm", "/Applications/WebStorm.app/Contents/MacOS/webstorm"}},
		{id: "pycharm", name: "PyCharm", argv: jetbrainsArgs, programs: []string{"pycharm", toolbox + "pycharm", "/Applications/PyCharm.app/Contents/MacOS/pycharm"}},
		{id: "rustrover", name: "RustRover", argv: jetbrainsArgs, programs: []string{"rustrover", toolbox + "rustrover", "/Applications/RustRover.app/Contents/MacOS/rustrover"}},
		{id: "nvim", name: "Neovim", argv: vimArgs, programs: []string{"nvim"}, inside: true},
		{id: "vim", name: "Vim", argv: vimArgs, programs: []string{"vim"}, inside: true},
		{id: "gnome-terminal", name: "GNOME Terminal", terminal: true, programs: []string{"gnome-terminal"}, argv: flagArgs("--working-directory=")},
		{id: "konsole", name: "Konsole", terminal: true, programs: []string{"konsole"}, argv: wordArgs("--workdir")},
		{id: "ghostty", name: "Ghostty", terminal: true, programs: []string{"ghostty"}, argv: flagArgs("--working-directory=")},
		{id: "kitty", name: "kitty", terminal: true, programs: []string{"kitty"}, argv: wordArgs("--directory")},
		{id: "alacritty", name: "Alacritty", terminal: true, programs: []string{"alacritty"}, argv: wordArgs("--working-directory")},
		{id: "wezterm", name: "WezTerm", terminal: true, programs: []string{"wezterm"}, argv: wordArgs("start", "--cwd")},
		{id: "foot", name: "foot", terminal: true, programs: []string{"foot"}, argv: flagArgs("--working-directory=")},
		{id: "xfce4-terminal", name: "Xfce Terminal", terminal: true, programs: []string{"xfce4-terminal"}, argv: flagArgs("--working-directory=")},
		{id: "x-terminal-emulator", name: "System terminal", terminal: true, programs: []string{"x-terminal-emulator"}, argv: wordArgs()},
		{id: "xterm", name: "xterm", terminal: true, programs: []string{"xterm"}, argv: wordArgs()},
		{id: "terminal-app", name: "Terminal", terminal: true, programs: macOnly("/usr/bin/open"), argv: func(dir, _ string, _ int) []string { return []string{"-a", "Terminal", dir} }},
	}
}

func macOnly(program string) []string {
	if goruntime.GOOS == "darwin" {
		return []string{program}
	}
	return nil
}

func gotoArgs(dir, file string, line int) []string {
	if file == "" {
		return []string{dir}
	}
	return []string{dir, "--goto", file + ":" + strconv.Itoa(max(line, 1))}
}

func zedArgs(dir, file string, line int) []string {
	if file == "" {
		return []string{dir}
	}
	return []string{dir, file + ":" + strconv.Itoa(max(line, 1))}
}

func jetbrainsArgs(dir, file string, line int) []string {
	if file == "" {
		return []string{dir}
	}
	return []string{dir, "--line", strconv.Itoa(max(line, 1)), file}
}

func vimArgs(dir, file string, line int) []string {
	if file == "" {
		return []string{"--", dir}
	}
	return []string{"+" + strconv.Itoa(max(line, 1)), "--", file}
}

func flagArgs(flag string) func(dir, file string, line int) []string {
	return func(dir, _ string, _ int) []string { return []string{flag + dir} }
}

// wordArgs ends with the folder, unless there are no words: those start in their own folder.
func wordArgs(words ...string) func(dir, file string, line int) []string {
	return func(dir, _ string, _ int) []string {
		if len(words) == 0 {
			return nil
		}
		return append(slices.Clone(words), dir)
	}
}

// find gives where the program is, "" when it is not installed.
func (e editorSpec) find(env func(string) string) string {
	home := env("HOME")
	for _, p := range e.programs {
		if rest, ok := strings.CutPrefix(p, "~/"); ok && home != "" {
			p = filepath.Join(home, rest)
		}
		if filepath.IsAbs(p) {
			if exe, err := exec.LookPath(p); err == nil {
				return exe
			}
			continue
		}
		for _, dir := range filepath.SplitList(env("PATH")) {
			if !filepath.IsAbs(dir) {
				continue
			}
			if exe, err := exec.LookPath(filepath.Join(dir, p)); err == nil {
				return exe
			}
		}
	}
	return ""
}

// installed are the programs that can be opened: those with a window only where there is a display.
func (a *App) installed() map[string]string {
	env := lookup(a.environ)
	windows := goruntime.GOOS == "darwin" || env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""
	out := map[string]string{}
	for _, e := range editorSpecs() {
		if !windows && !e.inside {
			continue
		}
		if exe := e.find(env); exe != "" {
			out[e.id] = exe
		}
	}
	return out
}

func (s terminalService) Editors(context.Context) ([]Editor, error) {
	found := s.app.installed()
	out := []Editor{}
	for _, e := range editorSpecs() {
		if found[e.id] != "" {
			out = append(out, Editor{ID: e.id, Name: e.name, Terminal: e.terminal, Inside: e.inside})
		}
	}
	return out, nil
}

// choose gives the program that is asked for, preferred or first.
func (a *App) choose(id string) (editorSpec, string, error) {
	found := a.installed()
	if id == "" {
		if v, err := a.root.Settings(); err == nil && found[v.Editor] != "" {
			id = v.Editor
		}
	}
	for _, e := range editorSpecs() {
		if exe := found[e.id]; exe != "" && (e.id == id || id == "" && !e.terminal || id == "terminal" && e.terminal) {
			return e, exe, nil
		}
	}
	if id == "terminal" {
		return editorSpec{}, "", &Error{Code: "not_installed", Message: "No system terminal was found on this machine."}
	}
	return editorSpec{}, "", &Error{Code: "not_installed", Message: "No editor was found: Carrel knows VS Code, Cursor, Zed, JetBrains' editors, Neovim and Vim, by their commands in your PATH."}
}

func (s terminalService) OpenEditor(ctx context.Context, args OpenEditor) (Opened, error) {
	a := s.app
	w, err := a.registry.Workspace(ctx, args.Workspace)
	if err != nil {
		return Opened{}, userError(err)
	}
	place, err := a.desks.Runtime(ctx, w)
	if err != nil {
		return Opened{}, userError(err)
	}
	e, exe, err := a.choose(args.Editor)
	if err != nil {
		return Opened{}, err
	}
	file := ""
	if args.Path != "" {
		if _, err := place.Files().Stat(ctx, args.Path); err != nil {
			return Opened{}, &Error{Code: "not_found", Message: fmt.Sprintf("%s is not a file of this workspace.", short(args.Path)), Cause: err}
		}
		file = args.Path
		if !filepath.IsAbs(file) {
			file = filepath.Join(place.Dir(), file)
		}
	}
	argv := append([]string{exe}, e.argv(place.Dir(), file, args.Line)...)
	if e.inside {
		o, err := a.terminals.start(ctx, OpenTerminal{Workspace: w.ID}, argv)
		if err != nil {
			return Opened{}, err
		}
		return Opened{Editor: e.name, Terminal: o.id}, nil
	}
	if err := a.launch(argv, place.Dir()); err != nil {
		return Opened{}, &Error{Code: "editor", Message: fmt.Sprintf("%s could not be started: %s", e.name, short(err.Error())), Cause: err}
	}
	return Opened{Editor: e.name}, nil
}

// launchLook is how long a program that opens a window is watched for failing at once.
const launchLook = 400 * time.Millisecond

// launch starts a program that lives apart from Carrel.
func (a *App) launch(argv []string, dir string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(runtime.TerminalEnv(a.environ), "PWD="+dir)
	cmd.SysProcAttr = apart()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, null
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(launchLook):
		return nil
	}
}
