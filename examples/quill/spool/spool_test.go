package spool_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/spool"
)

var at = time.Date(2026, time.November, 21, 6, 0, 0, 0, time.UTC)

func open(t *testing.T, dir string, most int64) *spool.Spool {
	t.Helper()
	s, err := spool.Open(dir, most)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s *spool.Spool, n int) {
	t.Helper()
	if err := s.Put(spool.Entry{ReceivedAt: at.Add(time.Duration(n)), Body: fmt.Appendf(nil, "body %03d \xff", n)}); err != nil {
		t.Fatal(err)
	}
}

// took settles what is in the spool up to the body "" and returns the bodies.
func took(t *testing.T, s *spool.Spool, until string) (bodies []string, err error) {
	t.Helper()
	err = s.Each(func(e spool.Entry) bool {
		bodies = append(bodies, string(e.Body))
		return until == "" || !strings.Contains(string(e.Body), until)
	})
	return bodies, err
}

// Entries outlast the process, come in the order of their times, byte for byte, and
// are gone when they are settled. Nobody else may read them.
func TestEntries(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	s := open(t, dir, spool.Most)
	for _, n := range []int{2, 0, 1} {
		put(t, s, n)
	}
	files, _ := filepath.Glob(dir + "/*")
	for _, path := range append(files, dir) {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if s.Close(); len(files) != 3 {
		t.Errorf("%v", files)
	}
	s = open(t, dir, spool.Most)
	if got, err := took(t, s, "001"); err != nil || strings.Join(got, ",") != "body 000 \xff,body 001 \xff" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := took(t, s, ""); err != nil || strings.Join(got, ",") != "body 002 \xff,body 001 \xff" { // the one that failed comes last
		t.Errorf("%q, %v", got, err)
	}
	if n, err := s.Len(); n != 0 || err != nil {
		t.Errorf("%d are left, %v", n, err)
	}
}

// A directory is for one process.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, spool.Most)
	writing := filepath.Join(dir, "1.tmp")
	if err := os.WriteFile(writing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := spool.Open(dir, spool.Most); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second: %v", err)
	}
	if _, err := os.Stat(writing); err != nil {
		t.Errorf("the second erased what the first writes: %v", err)
	}
	s.Close()
	open(t, dir, spool.Most)
}

// The bytes of all files count, those of an earlier process too, and are free when
// entries are settled.
func TestABoundInBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, spool.Most)
	put(t, s, 0)
	files, _ := filepath.Glob(dir + "/*")
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, dir, 3*info.Size()-1)
	put(t, s, 10)
	for range 2 { // a refused one holds no room
		if err := s.Put(spool.Entry{ReceivedAt: at.Add(11), Body: []byte("body 011 \xff")}); !errors.Is(err, spool.ErrFull) {
			t.Errorf("a third: %v", err)
		}
	}
	if _, err := took(t, s, ""); err != nil {
		t.Fatal(err)
	}
	put(t, s, 12)
	put(t, s, 13)
}

// An entry that cannot be written leaves nothing, and its bytes are free.
func TestADiskThatFails(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	s := open(t, dir, 100)
	if err := os.Rename(dir, dir+"-gone"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Put(spool.Entry{ReceivedAt: at, Body: make([]byte, 30)}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without its directory: %v", err)
		}
	}
	if err := os.Rename(dir+"-gone", dir); err != nil {
		t.Fatal(err)
	}
	put(t, s, 1)
}

// Half a file that has its name is set aside and told, and holds up no other. What a
// process did not finish is erased.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"0-half.json": `{"receivedAt":"2026-11-21T06:00:00Z","bo`, "0-other.json": "{}", "1-9.tmp": `{"receivedAt"`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir, spool.Most)
	put(t, s, 1)
	got, err := took(t, s, "")
	if len(got) != 1 || err == nil || strings.Count(err.Error(), "is not an entry") != 2 {
		t.Errorf("%q, %v", got, err)
	}
	files, _ := filepath.Glob(dir + "/*")
	if len(files) != 2 || !strings.HasSuffix(files[0], "half.json.unreadable") {
		t.Errorf("left: %v", files)
	}
	if got, err := took(t, s, ""); len(got) != 0 || err != nil {
		t.Errorf("once more: %q, %v", got, err)
	}
}

// An entry that cannot be erased is settled once and told once. It holds its room until
// it can be erased.
func TestAnEntryThatCannotBeErased(t *testing.T) {
	t.Parallel()
	t.Run("until it can", func(t *testing.T) { cannotBeErased(t, false) })
	t.Run("until somebody does", func(t *testing.T) { cannotBeErased(t, true) })
}

func cannotBeErased(t *testing.T, byHand bool) {
	dir := t.TempDir()
	s := open(t, dir, 100)
	put(t, s, 0)
	files, _ := filepath.Glob(dir + "/*")
	file, inIt := files[0], filepath.Join(files[0], "x")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	settled := 0
	settle := func(spool.Entry) bool {
		settled++
		if err := errors.Join(os.Remove(file), os.MkdirAll(inIt, 0o700)); err != nil { // a file's mode does not stop root
			t.Error(err)
		}
		return true
	}
	if err := s.Each(settle); err == nil || settled != 1 {
		t.Errorf("settled %d times, %v", settled, err)
	}
	if err := s.Each(settle); err != nil || settled != 1 {
		t.Errorf("again: settled %d times, %v", settled, err)
	}
	if n, err := s.Len(); n != 0 || err != nil {
		t.Errorf("%d wait, %v", n, err)
	}
	large := spool.Entry{ReceivedAt: at, Body: make([]byte, 30)}
	if err := s.Put(large); !errors.Is(err, spool.ErrFull) {
		t.Errorf("it holds no room: %v", err)
	}
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	if !byHand {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Each(settle); err != nil || settled != 1 {
		t.Errorf("at last: settled %d times, %v", settled, err)
	}
	if n, err := s.Len(); n != 0 || err != nil {
		t.Errorf("%d are left, %v", n, err)
	}
	if err := s.Put(large); err != nil {
		t.Error(err)
	}
}

// A process is killed as soon as a file of its last entry is there, which is large.
// Every entry whose Put returned is there, and nothing else is half there.
func TestKilledWhileItWrites(t *testing.T) {
	if dir := os.Getenv("SPOOL_TEST_DIRECTORY"); dir != "" {
		s := open(t, dir, spool.Most)
		for _, size := range []int{1, 2, 3, 16 << 20} {
			if err := s.Put(spool.Entry{ReceivedAt: at, Body: make([]byte, size)}); err != nil {
				t.Fatal(err)
			}
			fmt.Println("kept")
		}
		return
	}
	// It is not parallel: a fork has the locks of other tests until it runs its program.
	const runs = 3
	dir, kept := t.TempDir(), 0
	for range runs {
		process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWhileItWrites$")
		process.Env = append(os.Environ(), "SPOOL_TEST_DIRECTORY="+dir)
		out, err := process.StdoutPipe()
		if err == nil {
			err = process.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		before, lines := kept, bufio.NewScanner(out)
		for lines.Scan() && lines.Text() == "kept" {
			kept++
			for files := []os.DirEntry{}; kept == before+3 && len(files) <= kept; {
				files, _ = os.ReadDir(dir)
			}
			if kept == before+3 {
				_ = process.Process.Kill()
			}
		}
		_ = process.Wait()
	}
	s := open(t, dir, spool.Most)
	got, err := took(t, s, "")
	if err != nil || kept < 3*runs || len(got) < kept || len(got) > 4*runs {
		t.Errorf("%d entries, %d were kept, %v", len(got), kept, err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("left: %v", files)
	}
}
