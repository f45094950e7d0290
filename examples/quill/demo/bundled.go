package demo

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"iter"

	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
)

// Seed and Events make the bundled webhooks.
const (
	Seed   = 1
	Events = 600
)

//go:embed requests.jsonl
var bundled []byte

// Bundled returns the webhooks that are part of the program, as stream.Of made them
// once, so that a change of stream.Of shows.
func Bundled() iter.Seq[stream.Request] {
	return func(yield func(stream.Request) bool) {
		for line := range bytes.Lines(bundled) {
			var r stream.Request
			if err := json.Unmarshal(line, &r); err != nil {
				panic("demo: requests.jsonl: " + err.Error()) // a test reads the file
			}
			if !yield(r) {
				return
			}
		}
	}
}
