//go:build !linux && !darwin

package plan

import "os"

// lstat has no inode here.
func lstat(name string) (Entry, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Name: info.Name(), Type: info.Mode().Type(), ModTime: info.ModTime()}, nil
}
