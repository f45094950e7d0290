package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// mutant is one entry of the list: a text of a file, and its replacement, which
// may be empty.
type mutant struct {
	line     int    // of the entry, in the list
	file     string // from the module's root, with slashes
	what     string
	old, new string
}

func (m mutant) String() string { return m.file + ": " + m.what }

// pkg is the package of the file, as the go command takes it.
func (m mutant) pkg() string { return "./" + path.Dir(m.file) }

// parse reads the list. It continues after a bad entry, so that its error names
// all of them.
func parse(text string) ([]mutant, error) {
	var list []mutant
	var bad []error
	complain := func(line int, format string, args ...any) {
		bad = append(bad, fmt.Errorf("line %d: "+format, append([]any{line}, args...)...))
	}
	first := map[string]int{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if comment(lines[i]) {
			continue
		}
		m := mutant{line: i + 1}
		var named bool
		m.file, m.what, named = strings.Cut(strings.TrimSpace(lines[i]), ": ")
		if !named || strings.HasPrefix(lines[i], "\t") {
			complain(m.line, "want FILE: WHAT, then one or two lines that begin with a tab")
			continue
		}
		texts := indented(lines[i+1:])
		i += len(texts)
		if len(texts) < 1 || len(texts) > 2 {
			complain(m.line, "%s: %d lines that begin with a tab, want the old text and, unless it is removed, the new", m, len(texts))
			continue
		}
		m.old = texts[0]
		if len(texts) == 2 {
			m.new = texts[1]
		}
		key := m.file + "\n" + m.old + "\n" + m.new
		switch {
		case m.old == m.new:
			complain(m.line, "%s: the new text is the old one", m)
		case first[key] != 0:
			complain(m.line, "%s: the same as line %d", m, first[key])
		}
		first[key] = m.line
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
	if n := strings.Count(source, m.old); n != 1 {
		return "", fmt.Errorf("line %d: %s: the old text must be in the file once, and is in it %d times: %s", m.line, m, n, m.old)
	}
	return strings.Replace(source, m.old, m.new, 1), nil
}

// fits reports every mutant whose text does not stand in its file exactly once.
func fits(root string, list []mutant) error {
	var bad []error
	for _, m := range list {
		if _, err := m.read(root); err != nil {
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

// read returns the mutated text of the mutant's file.
func (m mutant) read(root string) (string, error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		return "", fmt.Errorf("line %d: %w", m.line, err)
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
