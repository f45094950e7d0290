package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// mutant is one entry of a list: a text of a file, and its replacement, which
// may be empty.
type mutant struct {
	at       string // list:line
	File     string // from the root, with slashes
	What     string
	By       string `json:",omitempty"` // the folder of the tests, if it is not the file's
	Old, New string
}

func (m mutant) String() string { return m.File + ": " + m.What }

// pkg is the folder of the package whose tests run.
func (m mutant) pkg() string {
	if m.By != "" {
		return m.By
	}
	return path.Dir(m.File)
}

// lists reads every mutants.txt below the root. Its error names all that is
// wrong, also a text that does not stand in its file exactly once.
func lists(root string) ([]mutant, error) {
	var all []mutant
	var bad []error
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || file != root && strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case entry.Name() != "mutants.txt":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		list, err := parse(filepath.ToSlash(name), string(text))
		all, bad = append(all, list...), append(bad, err)
		return nil
	})
	for _, m := range all {
		if _, err := m.read(root); err != nil {
			bad = append(bad, err)
		} else if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m.pkg()))); err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", m.at, err))
		}
	}
	return all, errors.Join(append(bad, err)...)
}

// byPackage names, in an entry's head, the package whose tests must notice.
var byPackage = regexp.MustCompile(`\[by ([^\]]*)\]`)

// mark is what a name says in brackets of its tests. It does not tell entries apart.
var mark = regexp.MustCompile(` \[[^\]]*\]`)

// parse reads the list. It continues after a bad entry, so that its error names
// all of them.
func parse(name, text string) ([]mutant, error) {
	var list []mutant
	var bad []error
	complain := func(m mutant, format string, args ...any) {
		bad = append(bad, fmt.Errorf("%s: "+format, append([]any{m.at}, args...)...))
	}
	first := map[string]string{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if comment(lines[i]) {
			continue
		}
		m := mutant{at: fmt.Sprintf("%s:%d", name, i+1)}
		var named bool
		m.File, m.What, named = strings.Cut(strings.TrimSpace(lines[i]), ": ")
		if !named || strings.HasPrefix(lines[i], "\t") {
			complain(m, "want FILE: WHAT, then one or two lines that begin with a tab")
			continue
		}
		if by := byPackage.FindStringSubmatch(m.What); by != nil {
			m.By = path.Clean(by[1])
		}
		texts := indented(lines[i+1:])
		i += len(texts)
		if len(texts) < 1 || len(texts) > 2 {
			complain(m, "%s: %d lines that begin with a tab, want the old text and, unless it is removed, the new", m, len(texts))
			continue
		}
		m.Old = texts[0]
		if len(texts) == 2 {
			m.New = texts[1]
		}
		change, what := m.File+"\n"+m.Old+"\n"+m.New, mark.ReplaceAllString(m.String(), "")
		switch {
		case m.Old == m.New:
			complain(m, "%s: the new text is the old one", m)
		case first[change] != "":
			complain(m, "%s: the same as %s", m, first[change])
		case first[what] != "":
			complain(m, "%s: named as %s", m, first[what])
		}
		first[change], first[what] = m.at, m.at
		list = append(list, m)
	}
	return list, errors.Join(bad...)
}

func comment(line string) bool {
	return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")
}

// indented returns the lines up to the first that is empty or does not begin
// with a tab, without the white space around them.
func indented(lines []string) []string {
	var texts []string
	for _, line := range lines {
		text := strings.TrimSpace(line)
		if text == "" || !strings.HasPrefix(line, "\t") {
			break
		}
		texts = append(texts, text)
	}
	return texts
}

// apply returns the file's text with the mutant in it.
func (m mutant) apply(source string) (string, error) {
	if n := strings.Count(source, m.Old); n != 1 {
		return "", fmt.Errorf("%s: %s: the old text must be in the file once, and is in it %d times: %s", m.at, m, n, m.Old)
	}
	return strings.Replace(source, m.Old, m.New, 1), nil
}

// read returns the mutated text of the mutant's file.
func (m mutant) read(root string) (string, error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return "", fmt.Errorf("%s: %w", m.at, err)
	}
	return m.apply(string(source))
}

func matching(list []mutant, re *regexp.Regexp) []mutant {
	var kept []mutant
	for _, m := range list {
		if re.MatchString(m.String()) {
			kept = append(kept, m)
		}
	}
	return kept
}

// part is the k-th of n parts of a list, k counted from 1. Neighbours in the
// list go to different parts, so that every part sees every large package.
type part struct{ k, n int }

func parsePart(text string) (part, error) {
	var p part
	if _, err := fmt.Sscanf(text, "%d/%d", &p.k, &p.n); err != nil || p.k < 1 || p.k > p.n {
		return p, fmt.Errorf("-part %s: must be K/N, with K from 1 to N", text)
	}
	return p, nil
}

func (p part) of(list []mutant) []mutant {
	var kept []mutant
	for i := p.k - 1; i < len(list); i += p.n {
		kept = append(kept, list[i])
	}
	return kept
}
