package house

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// largestFile leaves room for the largest file, which is scripts/mutants.txt with
// 313 KB. A text that needs more is better split, and a binary is larger.
const largestFile = 400_000 // bytes

// binary are the folders whose files need not be text, each with its reason.
var binary = map[string]string{
	"tzclock/testdata/zoneinfo/": "time zones as time.LoadLocation reads them, of a year in which the tests' answers are known",
}

// A tracked file is UTF-8 text, and not too large: what was committed once stays in
// the history.
func TestTrackedFilesAreText(t *testing.T) {
	t.Parallel()
	needed := map[string]bool{}
	names := tracked(t)
	if len(names) < 600 {
		t.Fatalf("%d files: the test does not see the repository", len(names))
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(content) > largestFile {
			t.Errorf("%s has %d bytes, more than %d", name, len(content), largestFile)
		}
		if utf8.Valid(content) && !bytes.ContainsRune(content, 0) {
			continue
		}
		known := false
		for folder := range binary {
			if strings.HasPrefix(name, folder) {
				known, needed[folder] = true, true
			}
		}
		if !known {
			t.Errorf("%s is not UTF-8 text", name)
		}
	}
	for folder := range binary {
		if !needed[folder] {
			t.Errorf("%s has only text: take it from the list binary", folder)
		}
	}
}

// tracked returns the files of the repository, if git knows it: a module zip has no
// others.
func tracked(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("not a git repository")
	}
	_, _ = os.Stat(".git/index") // a cached result is not used after git add
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
