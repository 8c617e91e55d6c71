// Package prompt writes the system prompt.
//
// It promises: the same facts give the same bytes, so that a provider's prompt cache holds from
// turn to turn and over restarts. There is no clock, no git status and no map order in it. A
// conversation asks once when it is started and keeps the answer; instructions that change while it
// runs are read at its next start.
package prompt

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"carrel/workspaces/runtime"
)

//go:embed base.md
var base string

// InstructionsFile is the file at a workspace's root that tells agents about the project.
const InstructionsFile = "AGENTS.md"

// maxInstructions is how much of the instructions file is used, in bytes.
const maxInstructions = 64 << 10

// Facts is what a system prompt is made from.
type Facts struct {
	Dir     string // the workspace's root as its commands see it
	Runtime runtime.Kind
	Branch  string // of the workspace, "" without git
	OS      string // such as linux
	// Instructions is the text of the project's AGENTS.md, "" when there is none.
	Instructions string
}

// System writes the system prompt.
func System(f Facts) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(base))
	b.WriteString("\n\n<environment>\n")
	line(&b, "Workspace", f.Dir)
	switch f.Runtime {
	case runtime.Local:
		line(&b, "Place", "the project's own folder (the person may be working in it too)")
	case runtime.Worktree:
		line(&b, "Place", "a git worktree of the project, made for this conversation")
	default:
		line(&b, "Place", string(f.Runtime))
	}
	line(&b, "Branch at the start", f.Branch)
	line(&b, "Operating system", f.OS)
	b.WriteString("</environment>")
	if text := strings.TrimSpace(f.Instructions); text != "" {
		fmt.Fprintf(&b, "\n\nThe project's instructions, from %s. Where the person says otherwise, the person is right.\n\n<instructions>\n%s\n</instructions>",
			InstructionsFile, text)
	}
	b.WriteString("\n")
	return b.String()
}

// line writes a fact in one line; one that is not known is left out.
func line(b *strings.Builder, name, value string) {
	value = strings.Join(strings.Fields(value), " ")
	if value != "" {
		fmt.Fprintf(b, "%s: %s\n", name, value)
	}
}

// Instructions reads AGENTS.md at the workspace's root. No file is no error and gives "". Of a file
// over 64 KiB the beginning is given, with a last line that says so; bytes that are not UTF-8 are
// replaced.
func Instructions(ctx context.Context, files runtime.Files) (string, error) {
	f, _, err := files.Open(ctx, InstructionsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %q: %w", InstructionsFile, err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxInstructions+1))
	if err != nil {
		return "", fmt.Errorf("read %q: %w", InstructionsFile, err)
	}
	if len(data) <= maxInstructions {
		return clean(data), nil
	}
	data = data[:maxInstructions]
	for len(data) > 0 && !utf8.RuneStart(data[len(data)-1]) {
		data = data[:len(data)-1]
	}
	if n := len(data); n > 0 && data[n-1] >= utf8.RuneSelf {
		data = data[:n-1] // the first byte of a character that was cut
	}
	return clean(data) + fmt.Sprintf("\n[%s is longer than 64 KiB; the rest is left out. Read the file for it.]", InstructionsFile), nil
}

func clean(data []byte) string {
	s := strings.TrimPrefix(string(data), "\uFEFF")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}
