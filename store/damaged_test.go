package store

import (
	"os"
	"testing"
)

// What damaged settings forbid must not be allowed: not at once, not after they were kept aside, and not
// by the next process. Mended ones count at once.
func TestDamagedSettingsSaySoUntilTheyAreMended(t *testing.T) {
	for text, sound := range map[string]bool{
		`{"sandbox":{"network":"deny"`:                   false,
		`{"sandbox":{"network":"deny","deny_read":"x"}}`: false,
		`{"permissions":{"deny":"x"}}`:                   false,
		`{"sandbox":7}`:                                  false,
		"{\"sandbox\":{\"network\":\"deny\"}} // fine\n": true,
		"": true,
	} {
		dir := t.TempDir()
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		file := r.Path(settingsFile)
		if text != "" {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			again, err := Open(dir) // as the next process does
			if err != nil {
				t.Fatal(err)
			}
			s, err := again.Settings()
			if err != nil || (s.Damaged == "") != sound {
				t.Errorf("%s: %q, %v", text, s.Damaged, err)
			}
			_ = again.Close()
		}
		if err := os.WriteFile(file, []byte(`{"sandbox":{"network":"deny"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := r.Settings(); err != nil || s.Damaged != "" || s.Sandbox.Network != "deny" {
			t.Errorf("mended %s: %+v, %v", text, s, err)
		}
		_ = r.Close()
	}
}
