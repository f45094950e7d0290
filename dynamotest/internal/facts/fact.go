package facts

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// A Fact is a sequence of requests, with DynamoDB's answer to each.
type Fact struct {
	ID     string
	Group  string `json:"-"` // the file's name
	Source string
	Seen   string // when AWS gave the answer: 2026-10 or 2026-10-09
	Note   string
	Tables []string
	Steps  []Step
}

// A Step is a request, with what is expected of the reply.
type Step struct {
	Op      string
	Body    json.RawMessage
	Expect  json.RawMessage
	Keep    map[string]string
	Retries int
}

//go:embed data
var data embed.FS

// All returns the facts, by group and then in the order of their file.
func All() ([]Fact, error) {
	entries, err := data.ReadDir("data")
	if err != nil {
		return nil, err
	}

	var all []Fact
	for _, entry := range entries {
		group, ok := strings.CutSuffix(entry.Name(), ".jsonl")
		if !ok {
			continue
		}

		text, err := data.ReadFile(path.Join("data", entry.Name()))
		if err != nil {
			return nil, err
		}

		facts, err := read(group, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}

		all = append(all, facts...)
	}

	return all, nil
}

func read(group string, text []byte) ([]Fact, error) {
	var facts []Fact
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()

	for {
		fact := Fact{Group: group}
		err := dec.Decode(&fact)
		if errors.Is(err, io.EOF) {
			return facts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("fact %d: %w", len(facts)+1, err)
		}
		facts = append(facts, fact)
	}
}

// definitions returns the tables that facts share: bodies of CreateTable, without
// the name.
func definitions() (map[string]map[string]json.RawMessage, error) {
	text, err := data.ReadFile("data/tables.json")
	if err != nil {
		return nil, err
	}
	var tables map[string]map[string]json.RawMessage
	err = json.Unmarshal(text, &tables)
	return tables, err
}
