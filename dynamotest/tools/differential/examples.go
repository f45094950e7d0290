package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// An example is a difference that was seen, as a line of testdata/known.jsonl: the
// shortest of its kind. Examples with large items are shortened by hand.
type example struct {
	Name    string
	Op      string
	Pages   bool `json:",omitempty"`
	Mangled bool `json:",omitempty"`
	Request object
	Ours    recorded
	Theirs  recorded
}

type recorded struct {
	Status   int
	Kind     string `json:",omitempty"`
	Message  string `json:",omitempty"`
	Body     object
	Accounts object `json:",omitempty"`
}

func (a answer) record() recorded { return recorded{a.status, a.kind, a.message, a.body, a.accounts} }

func (r recorded) answer() answer { return answer{r.Status, r.Kind, r.Message, r.Body, r.Accounts} }

func (e example) difference() difference {
	req := request{op: e.Op, body: e.Request, pages: e.Pages, mangled: e.Mangled}
	return difference{request: req, ours: e.Ours.answer(), theirs: e.Theirs.answer()}
}

// longest is how many bytes an example may have.
const longest = 20_000

// exemplify keeps a difference as the example of a reason, if it is shorter than
// the existing example.
func (rep *report) exemplify(name string, d difference) {
	req := d.request
	line, _ := json.Marshal(example{name, req.op, req.pages, req.mangled, req.body, d.ours.record(), d.theirs.record()})
	if old, ok := rep.examples[name]; len(line) < longest && (!ok || len(line) < len(old)) {
		rep.examples[name] = line
	}
}

// writeExamples writes an example of each known difference to a file: those that
// were seen, and the existing ones that were not seen again.
func (rep *report) writeExamples(file string) error {
	old, err := readExamples(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	var out bytes.Buffer
	for _, k := range known {
		line, ok := rep.examples[k.name]
		if e, there := old[k.name]; there && !ok {
			line, _ = json.Marshal(e)
		}
		if len(line) > 0 {
			out.Write(append(line, '\n'))
		}
	}

	return os.WriteFile(file, out.Bytes(), 0o644)
}

func readExamples(file string) (map[string]example, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}

	out := map[string]example{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 2*longest)

	for lines.Scan() {
		var e example
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, err
		}
		out[e.Name] = e
	}
	return out, lines.Err()
}
