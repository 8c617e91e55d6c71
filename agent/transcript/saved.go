package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
)

// The files beside the log. Both are disposable: what is in them follows from the log.
const (
	logName   = "transcript.jsonl"
	indexName = "index"
	foldName  = "fold"
)

// savedVersion changes with the form or the meaning of index or fold.
const savedVersion = 2

// sumBytes is how much of each end of a file is compared before its index is trusted.
const sumBytes = 4096

// saved is the fold file: the state at LogSize, and what the log and the index must look like for
// it to count.
type saved struct {
	Version int    `json:"version"`
	LogSize int64  `json:"logSize"`
	Count   int    `json:"count"` // entries in the index
	Head    uint32 `json:"head"`  // checksum of the log's first bytes
	Tail    uint32 `json:"tail"`  // of its last bytes before LogSize
	Index   uint32 `json:"index"` // of the index's last entries
	State   State  `json:"state"`
}

// sumRange is the checksum of the bytes from lo up to hi of a file.
func sumRange(f *os.File, lo, hi int) (uint32, error) {
	buf := make([]byte, hi-lo)
	if _, err := f.ReadAt(buf, int64(lo)); err != nil {
		return 0, err
	}
	return crc32.ChecksumIEEE(buf), nil
}

// logSums are the checksums of the log's two ends, up to size bytes.
func logSums(f *os.File, size int64) (head, tail uint32, err error) {
	if head, err = sumRange(f, 0, int(min(size, sumBytes))); err != nil {
		return 0, 0, err
	}
	tail, err = sumRange(f, int(max(0, size-sumBytes)), int(size))
	return head, tail, err
}

// loadSaved sets state and index from the files beside the log and gives the log's size at that
// time. It is errStale, or the error of a file, when they can't be used.
func (l *Log) loadSaved() (int64, error) {
	raw, err := os.ReadFile(filepath.Join(l.dir, foldName))
	if err != nil {
		return 0, err
	}
	sum, body, ok := bytes.Cut(raw, []byte("\n"))
	want, err := strconv.ParseUint(string(sum), 16, 32)
	if !ok || err != nil || uint32(want) != crc32.ChecksumIEEE(body) {
		return 0, errStale
	}
	var s saved
	if err := json.Unmarshal(body, &s); err != nil || s.Version != savedVersion {
		return 0, errStale
	}
	head, tail, err := logSums(l.f, s.LogSize)
	if err != nil || head != s.Head || tail != s.Tail {
		return 0, errStale
	}
	f, err := os.OpenFile(filepath.Join(l.dir, indexName), l.indexFlag(), 0o600)
	if err != nil {
		return 0, err
	}
	x := index{f: f, base: s.Count}
	if sum, err := x.sum(); err != nil || sum != s.Index {
		_ = f.Close()
		return 0, errStale
	}
	l.idx, l.st = x, s.State
	return s.LogSize, nil
}

func (l *Log) indexFlag() int {
	if l.writes {
		return os.O_RDWR
	}
	return os.O_RDONLY
}

// save writes what index and fold gained. Failing costs only a slower next Open, so the caller may
// ignore the error.
func (l *Log) save() error {
	if l.st.Turn != "" || l.st.LastPartial != nil || l.idx.f != nil && len(l.idx.tail) == 0 && !l.idx.cutBack {
		return nil
	}
	if err := l.idx.save(filepath.Join(l.dir, indexName)); err != nil {
		return err
	}
	s := saved{Version: savedVersion, LogSize: l.size, Count: l.idx.base, State: l.st}
	var err error
	if s.Head, s.Tail, err = logSums(l.f, l.size); err != nil {
		return err
	}
	if s.Index, err = l.idx.sum(); err != nil {
		return err
	}
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	body = append(fmt.Appendf(nil, "%08x\n", crc32.ChecksumIEEE(body)), body...)
	temp := filepath.Join(l.dir, foldName+".new")
	if err := os.WriteFile(temp, body, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(l.dir, foldName))
}
