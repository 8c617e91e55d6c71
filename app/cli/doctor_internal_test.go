package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestTheDoctorKnowsADataFolderThatCannotBeUsed(t *testing.T) {
	for _, err := range []error{fs.ErrPermission, &fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}, &fs.PathError{Op: "open", Path: "/x", Err: syscall.EROFS}} {
		c, ok := rootTrouble(fmt.Errorf("lock data root: %w", err))
		if !ok || c.Status != "missing" || c.Detail == "" || !strings.Contains(c.Mend, "CARREL_ROOT") {
			t.Errorf("%v: %+v, %v", err, c, ok)
		}
	}
	for _, err := range []error{nil, errors.New("other")} {
		if c, ok := rootTrouble(err); ok {
			t.Errorf("%v: %+v", err, c)
		}
	}
}
