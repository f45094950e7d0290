package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListAndOverlay(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	source := write("a.go", "package a\n\nconst held = me + fence\n")
	list := write("list.txt", "# a comment\na.go: not for histories\n\tx\n\ty\n\na.go: no fence [histories: ledger] [by ./b]\n\tme + fence\n\tme\n")

	all, err := read(list)
	want := mutant{file: "a.go", name: "no fence", story: "ledger", old: "me + fence", new: "me"}
	if err != nil || len(all) != 1 || all[0] != want {
		t.Fatalf("read %+v, %v, want %+v", all, err, want)
	}
	overlay, err := all[0].overlay(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(overlay)
	if err != nil {
		t.Fatal(err)
	}
	var replaces struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &replaces); err != nil {
		t.Fatal(err)
	}
	changed, err := os.ReadFile(replaces.Replace[source])
	if err != nil || string(changed) != "package a\n\nconst held = me\n" {
		t.Errorf("the compiler reads %q, %v", changed, err)
	}
	all[0].old = "a"
	if _, err := all[0].overlay(root, t.TempDir()); err == nil || !strings.Contains(err.Error(), "3 times") {
		t.Errorf("a text that stands in the file twice: %v", err)
	}
}

func TestListNamesTheLineAtFault(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(list, []byte("\na.go: half [histories: ema]\n\tx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(list); err == nil || !strings.Contains(err.Error(), "list.txt:2") {
		t.Errorf("%v", err)
	}
}
