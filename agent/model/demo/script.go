package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"carrel/agent/model/wire"
)

// What the script writes and looks for.
const (
	demoFile    = "DEMO.md"
	otherFile   = "DEMO-carrel.md" // when DEMO.md is somebody else's
	marker      = "<!-- demo: new lines go above -->"
	notGit      = "not a git repository"
	filesFollow = "files:"
)

const lookScript = `if [ "$(git rev-parse --is-inside-work-tree --show-cdup 2>/dev/null)" = true ]; then
  echo "branch: $(git branch --show-current)"
  git log --oneline -5 2>/dev/null || echo "no commits yet"
else
  echo "not a git repository"
fi
echo "files:"
ls -dp README* DEMO.md 2>/dev/null
ls -p | head -n 40`

const slowScript = `echo "Sleeping for 20 seconds: interrupt me, or close the window and come back."
sleep 20
echo "Slept."`

// commitScript commits one file and nothing else that may be staged. Where git knows nobody to name
// as the author, it names the demo.
const commitScript = `git add -- %[1]s || exit
if git var GIT_AUTHOR_IDENT >/dev/null 2>&1 && git var GIT_COMMITTER_IDENT >/dev/null 2>&1; then
  git commit --quiet --no-gpg-sign -m "Add a line to %[1]s" -- %[1]s || exit
else
  git -c user.name="Carrel demo" -c user.email=demo@localhost commit --quiet --no-gpg-sign -m "Add a line to %[1]s" -- %[1]s || exit
fi
git log --oneline -1`

// reply is what the script says next: a text, and a call unless the turn is over.
type reply struct {
	text            string
	id, tool, input string
}

// follow gives the next reply.
func follow(s *story) reply {
	if s.last != "" && s.results[s.last].IsError {
		return reply{text: fmt.Sprintf("\nThe step \"%s\" failed, so I stop here; its row above shows why. "+
			"Nothing more was changed. Send another message to try again.", s.last)}
	}
	switch s.last {
	case "":
		return s.call(stepLook, "bash", wire.Obj("script", lookScript, "timeout_secs", 20, "display_name", "Look around"), intro(s))
	case stepLook:
		if s.slow() {
			return s.call(stepSlow, "bash", wire.Obj("script", slowScript, "timeout_secs", 60, "display_name", "Sleep"),
				"You asked for a slow turn, so the next command takes twenty seconds.")
		}
		return s.read()
	case stepSlow:
		return s.read()
	case stepRead:
		return s.edit()
	case stepEdit:
		return s.check()
	case stepCheck:
		return s.commit()
	}
	return reply{text: s.summary()}
}

func (s *story) call(step, tool string, input wire.Object, text string) reply {
	if !slices.Contains(s.tools, tool) {
		return reply{text: text + "\n\nThe tool " + tool + " is not offered here, so there is nothing that I can show."}
	}
	return reply{text: text, id: s.callID(step), tool: tool, input: string(wire.Encode(input))}
}

func intro(s *story) string {
	if s.turn > 1 {
		return "Still the demo model, so the same round again: I add one more line and commit it."
	}
	return "**This is the demo model.** It works offline and follows a script; it does not understand what you write, " +
		"and answers because no other model was chosen. For a real one, add a key under Settings, Providers, " +
		"or set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` and start Carrel again.\n\n" +
		"What follows is a real turn in this folder, though. First I look around."
}

func (s *story) read() reply {
	path := s.worthReading()
	if path == "" {
		return s.edit()
	}
	return s.call(stepRead, "file_read", wire.Obj("path", path, "limit", 60), "Now I read `"+path+"`.")
}

// target is the file to change, and whether it has to be made.
func (s *story) target() (path string, isNew bool) {
	switch {
	case s.paths[stepEdit] != "":
		return s.paths[stepEdit], false
	case s.paths[stepRead] != demoFile:
		return demoFile, true
	case strings.Contains(s.text(stepRead), marker):
		return demoFile, false
	}
	return otherFile, true
}

func (s *story) edit() reply {
	path, isNew := s.target()
	line := "- Asked: “" + s.asked() + "”\n"
	if !isNew {
		return s.call(stepEdit, "file_edit_insert",
			wire.Obj("path", path, "insert_before", marker, "content", line), "I add a line to `"+path+"`.")
	}
	return s.call(stepEdit, "file_edit_insert", wire.Obj("path", path, "content", "# Demo\n\n"+
		"The demo model wrote this file to show how a turn works. Delete it whenever you like.\n\n"+
		line+marker+"\n"), "I write a small file, `"+path+"`.")
}

func (s *story) check() reply {
	path, _ := s.target()
	script := "git add --intent-to-add -- " + path + " && git diff --stat -- " + path
	if !s.git() {
		script = "tail -n 2 " + path
	}
	return s.call(stepCheck, "bash", wire.Obj("script", script, "timeout_secs", 20, "display_name", "Check the change"),
		"A look at the change before I go on.")
}

func (s *story) commit() reply {
	if !s.git() {
		return reply{text: s.summary()}
	}
	path, _ := s.target()
	return s.call(stepCommit, "bash", wire.Obj("script", fmt.Sprintf(commitScript, path), "timeout_secs", 60, "display_name", "Commit"),
		"That is what I wanted, so I commit it.")
}

func (s *story) summary() string {
	path, _ := s.target()
	var b strings.Builder
	b.WriteString("Done. In this turn I\n\n- looked at the folder")
	if p := s.paths[stepRead]; p != "" {
		b.WriteString(" and read `" + p + "`")
	}
	b.WriteString(",\n- added a line to `" + path + "`")
	switch {
	case !s.did(stepCommit):
		b.WriteString(".\n\nThis folder is no git repository of its own, so there is no commit: the change is in the file.")
	case s.branch() != "":
		b.WriteString(",\n- committed it on the branch `" + s.branch() + "`.\n\nTo review it: `git show " + s.branch() + "`, or the changes of this workspace.")
	default:
		b.WriteString(",\n- committed it.\n\nTo review it: `git show HEAD`, or the changes of this workspace.")
	}
	return b.String()
}

// pathOf is the path among a call's arguments.
func pathOf(input string) string {
	var a struct {
		Path string `json:"path"`
	}
	if json.Unmarshal([]byte(input), &a) != nil {
		return ""
	}
	return a.Path
}
