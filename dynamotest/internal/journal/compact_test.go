package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// steered is the operating system's disk, with hooks for a test before the
// steps of a compaction.
type steered struct {
	osDisk
	create, rename, sync func() error // called before the step; may be nil
}

func (d steered) Create(path string, like File) (File, error) {
	if d.create != nil {
		if err := d.create(); err != nil {
			return nil, err
		}
	}
	return d.osDisk.Create(path, like)
}

func (d steered) Rename(from, to string) error {
	if d.rename != nil {
		if err := d.rename(); err != nil {
			return err
		}
	}
	return d.osDisk.Rename(from, to)
}

func (d steered) SyncFolder(path string) error {
	if d.sync != nil {
		if err := d.sync(); err != nil {
			return err
		}
	}
	return d.osDisk.SyncFolder(path)
}

// A file that mostly has outdated entries becomes one without them.
func TestCompact(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	n := open(t, path, Options{CompactFrom: 500})
	n.mustWrite(t, "b=kept")
	for i := range 200 {
		n.mustWrite(t, fmt.Sprintf("a=%d", i))
		n.journal.WaitCompacted()
	}
	if got := content(t, path); len(got) > 1000 || int64(len(got)) != n.journal.Status().Size {
		t.Errorf("%d bytes, taken for %d", len(got), n.journal.Status().Size)
	}
	again := n.reopened(t, path)
	if diff := cmp.Diff(map[string]string{"a": "199", "b": "kept"}, again.texts); diff != "" {
		t.Error(diff)
	}
}

// What is committed while the new file is written comes after the snapshot.
func TestCommittedWhileCompacting(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}), make(chan struct{})
	disk := steered{create: func() error {
		close(began)
		<-release
		return nil
	}}
	path := filepath.Join(t.TempDir(), "data")
	n := open(t, path, Options{CompactFrom: 500, Disk: disk})
	for i := 0; !n.journal.Status().Compacting; i++ {
		n.mustWrite(t, fmt.Sprintf("a=%d", i))
	}
	<-began
	last := n.texts["a"]
	n.mustWrite(t, "b=1", "a=later")
	close(release)
	n.journal.WaitCompacted()
	if diff := cmp.Diff(header(journalFormat)+line(2, "a="+last)+line(3, "b=1")+line(4, "a=later"), content(t, path)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(n.texts, n.reopened(t, path).texts); diff != "" {
		t.Error(diff)
	}
}

// If a step fails before the new file has the name, the old file is used
// further. If one fails afterwards, nobody knows which of them a crash would
// leave.
func TestACompactionThatFails(t *testing.T) {
	t.Parallel()
	fails := func() error { return errBroken }
	for name, tt := range map[string]struct {
		steered
		fatal bool
	}{
		"creating": {steered: steered{create: fails}},
		"renaming": {steered: steered{rename: fails}},
		"syncing":  {steered: steered{sync: fails}, fatal: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "data")
			n := open(t, path, Options{CompactFrom: 500})
			n.journal.disk = tt.steered
			for i := range 100 {
				if n.write("a", fmt.Sprint(i)) != nil {
					break
				}
				n.journal.WaitCompacted()
			}
			err := n.write("b", "last")
			if failed := errors.Is(err, errBroken); failed != tt.fatal || err != nil && !failed {
				t.Errorf("afterwards: %v", err)
			}
			if _, err := os.Stat(n.journal.temporary()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the new file is still there: %v", err)
			}
			if err := n.journal.Close(); errors.Is(err, errBroken) != tt.fatal {
				t.Errorf("closed: %v", err)
			}
			again := open(t, path, Options{})
			if diff := cmp.Diff(n.texts, again.texts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The file of an interrupted compaction is removed; a file of somebody else is
// not.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	for left, ours := range map[string]bool{
		"":                        true,
		header(journalFormat)[:9]: true,
		strings.Repeat("\x00", 9): true,
		header(journalFormat) + line(2, "a=2")[:9]: true,
		"Dear diary,\n": false,
	} {
		path := file(t, header(journalFormat)+line(2, "a=1"))
		if err := os.WriteFile(path+".compacting", []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := opened(path, Options{})
		_, gone := os.Stat(path + ".compacting")
		if (err == nil) != ours || errors.Is(gone, os.ErrNotExist) != ours {
			t.Errorf("%q: %v, removed: %v", left, err, gone != nil)
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff([]string{"a=1"}, n.told); diff != "" {
			t.Errorf("%q: %s", left, diff)
		}
		_ = n.journal.Close()
	}
}

// A file of an older format becomes one of the present format.
func TestAnOlderFormat(t *testing.T) {
	t.Parallel()
	for version := 1; version < journalFormat; version++ {
		path := file(t, header(version)+older("a=1")+older("a=2", "b=3"))
		n := open(t, path, Options{})
		if diff := cmp.Diff([]string{"a=1", "a=2", "b=3"}, n.told); diff != "" {
			t.Errorf("%d: %s", version, diff)
		}
		if diff := cmp.Diff(header(journalFormat)+line(2, "a=2", "b=3"), content(t, path)); diff != "" {
			t.Errorf("%d: %s", version, diff)
		}
		n.mustWrite(t, "c=4")
		if diff := cmp.Diff([]string{"a=2", "b=3", "c=4"}, n.reopened(t, path).told); diff != "" {
			t.Errorf("%d: %s", version, diff)
		}
	}
}
