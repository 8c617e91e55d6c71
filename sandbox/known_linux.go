package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"carrel/sandbox/plan"
)

// known is what an earlier probe found, kept below the data root, where no command can write.
type known struct {
	For    circumstances `json:"for"`
	Status Status        `json:"status"`
}

// circumstances are what a finding counts for.
type circumstances struct {
	Boot    string `json:"boot"` // the kernel's, new at each start of the machine
	UID     int    `json:"uid"`
	Program string `json:"program"` // the helper's path, which names its content
	Bwrap   string `json:"bwrap"`
	Old     bool   `json:"old"` // whether one that is too old counts
}

// Known is Probe, which takes some 50 ms, or what it found before since the machine has started. Only
// the strongest tier is remembered: a weaker one may be mended at any time. When a command can't be
// confined after all, the box that found out makes the next call probe again.
func Known(ctx context.Context, c ProbeConfig) (Status, error) {
	now, err := look(c)
	if err != nil {
		return Probe(ctx, c)
	}
	var k known
	if text, err := os.ReadFile(knownPath(c.Root)); err == nil && json.Unmarshal(text, &k) == nil && reflect.DeepEqual(k.For, now) && k.Status.Tier == plan.TierA {
		return k.Status, nil
	}
	s, err := Probe(ctx, c)
	if err != nil || s.Tier != plan.TierA {
		return s, err
	}
	_ = remember(c.Root, known{now, s}) // else the next call probes again
	return s, nil
}

func knownPath(root string) string { return filepath.Join(root, "run", "sandbox.json") }

// look finds the circumstances.
func look(c ProbeConfig) (circumstances, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return circumstances{}, fmt.Errorf("read boot id: %w", err)
	}
	now := circumstances{Boot: strings.TrimSpace(string(boot)), UID: os.Getuid(), Program: c.Program, Bwrap: bwrapPath(), Old: c.OldBwrap}
	if now.Program == "" {
		now.Program, err = Program(c.Root)
	}
	return now, err
}

func remember(root string, k known) error {
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("remember sandbox: %w", err)
	}
	path := knownPath(root)
	f, err := os.CreateTemp(filepath.Dir(path), ".sandbox-*")
	if err != nil {
		return fmt.Errorf("remember sandbox: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("remember sandbox: %w", err)
	}
	return nil
}

// forget makes the next Known probe.
func forget(root string, err error) error {
	var c *CannotEnforce
	if errors.As(err, &c) {
		_ = os.Remove(knownPath(root)) // it may not be there
	}
	return err
}
