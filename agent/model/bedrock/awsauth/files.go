package awsauth

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// section is one part of a file: its names, in lower case, and their values.
type section map[string]string

// files are what ~/.aws/config and ~/.aws/credentials say together.
type files struct {
	profiles map[string]section
	sessions map[string]section // of SSO
}

// maxFile is how much of a file is read, in bytes.
const maxFile = 1 << 20

func (c chain) path(variable, name string) string {
	if p := c.Env(variable); p != "" {
		return c.home(p)
	}
	return filepath.Join(c.Env("HOME"), ".aws", name)
}

// home expands a leading ~.
func (c chain) home(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		return c.Env("HOME") + rest
	}
	return path
}

// load reads both files; one that is missing is empty. Keys in credentials come first.
func (c chain) load() (files, error) {
	out := files{profiles: map[string]section{}, sessions: map[string]section{}}
	for _, f := range []struct {
		path   string
		config bool
	}{{c.path("AWS_CONFIG_FILE", "config"), true}, {c.path("AWS_SHARED_CREDENTIALS_FILE", "credentials"), false}} {
		r, err := os.Open(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return out, fmt.Errorf("read AWS's settings: %w", err)
		}
		err = out.read(io.LimitReader(r, maxFile), f.config)
		_ = r.Close() // only read
		if err != nil {
			return out, fmt.Errorf("read AWS's settings %q: %w", f.path, err)
		}
	}
	return out, nil
}

// read adds one file. In config a profile's header is "profile NAME", but for the default.
func (f files) read(r io.Reader, config bool) error {
	var now section
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxFile)
	for lines.Scan() {
		line := lines.Text()
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case text[0] == '[':
			header, _, ok := strings.Cut(text[1:], "]")
			if !ok {
				return fmt.Errorf("a header lacks its ]: %.40q", text)
			}
			now = f.section(strings.Fields(header), config)
		case line[0] == ' ' || line[0] == '\t': // belongs to a name with several values, none of ours
		default:
			name, value, ok := strings.Cut(text, "=")
			if !ok || now == nil {
				continue
			}
			value = strings.TrimSpace(value)
			for _, mark := range []string{" #", " ;", "\t#", "\t;"} {
				value, _, _ = strings.Cut(value, mark)
			}
			now[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	return lines.Err()
}

// section is where what follows a header goes; nil is nowhere.
func (f files) section(header []string, config bool) section {
	in, name := f.profiles, strings.Join(header, " ")
	switch {
	case len(header) == 0:
		return nil
	case config && header[0] == "profile":
		name = strings.Trim(strings.Join(header[1:], " "), `"'`)
	case config && header[0] == "sso-session":
		in, name = f.sessions, strings.Trim(strings.Join(header[1:], " "), `"'`)
	case config && name != "default":
		return nil
	}
	if in[name] == nil {
		in[name] = section{}
	}
	return in[name]
}
