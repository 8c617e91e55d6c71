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
	Whole  bool          `json:"whole"` // all tiers were tried
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
	if k, ok := remembered(c.Root, now); ok && k.Whole {
		return k.Status, nil
	}
	s, err := Probe(ctx, c)
	if err == nil && s.Tier == plan.TierA {
		_ = remember(c.Root, known{now, true, s}) // else the next call probes again
	}
	return s, err
}

// enough is what the machine is known to do, or found to do now, as far as one command needs it: the
// tier, or without one the strongest that works. No other tier is tried.
func enough(ctx context.Context, c ProbeConfig, t plan.Tier) (Status, error) {
	now, err := look(c)
	keep := err == nil
	if keep {
		if k, ok := remembered(c.Root, now); ok && (t == "" || k.Status.need(t) == nil) {
			return k.Status, nil
		} else if ok {
			keep = false // it says more than what is found now
		}
	}
	p := newProber(c)
	for _, next := range allTiers() {
		if t != "" && t != next {
			continue
		}
		if err := p.try(ctx, next); err != nil {
			return p.status, err
		}
		if p.status.Tier != plan.TierD {
			break
		}
	}
	if keep && p.status.Tier == plan.TierA {
		_ = remember(c.Root, known{For: now, Status: p.status})
	}
	return p.status, nil
}

// remembered reads what was kept for these circumstances.
func remembered(root string, now circumstances) (known, bool) {
	var k known
	text, err := os.ReadFile(knownPath(root))
	ok := err == nil && json.Unmarshal(text, &k) == nil && reflect.DeepEqual(k.For, now) && k.Status.Tier == plan.TierA
	return k, ok
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
