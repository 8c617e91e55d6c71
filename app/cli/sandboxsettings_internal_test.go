package cli

import (
	"os"
	"testing"

	"carrel/store"
)

// What damaged settings deny must not be allowed: not at once, and not after they were kept aside.
func TestDamagedSettingsConfineNothingUntilMended(t *testing.T) {
	for text, sound := range map[string]bool{
		`{"sandbox":{"network":"deny"`:                   false,
		`{"sandbox":{"network":"deny","deny_read":"x"}}`: false,
		"{\"sandbox\":{\"network\":\"deny\"}} // fine\n": true,
	} {
		root, err := store.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		file := root.Path("settings.jsonc")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			again, err := store.Open(root.Dir()) // as the next process does
			if err != nil {
				t.Fatal(err)
			}
			if _, err := again.Settings(); err != nil {
				t.Fatal(err)
			}
			if err := soundSettings(again); (err == nil) != sound {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}
