package sequence_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/sequence"
)

// drawing is a diagram of three lifelines whose clock shows what it is set to.
func drawing() (d *sequence.Diagram, now *string) {
	now = new(string)
	return &sequence.Diagram{Title: "<title>", Lifelines: []string{"client", "proxy", "server"}, Clock: func() string { return *now }}, now
}

func TestDraw(t *testing.T) {
	t.Parallel()
	d, now := drawing()
	*now = "9:00"
	d.Request("client", "proxy", "a < b?")
	d.Note("proxy", "thinks")
	d.Lost("server", "proxy", "no")
	*now = "9:01"
	d.Crash("proxy", "crashes")
	d.Request("client", "server", "hello")
	d.Note("server", "wakes up")
	d.Reply("server", "client", "yes")
	text, svg, err := d.Draw()
	if err != nil {
		t.Fatal(err)
	}
	want := `
      client                 proxy                                                   server
         │                     │                                                        │
9:00     │─ a < b? ───────────►│                                                        │
         │                 [thinks]                                                     │
         │                     │× no ---------------------------------------------------│
         │                     │                                                        │
9:01     │                     × crashes                                                │
         │─ hello ─────────────────────────────────────────────────────────────────────►│
         │                                                                         [wakes up]
         │◄ yes ------------------------------------------------------------------------│
`
	if diff := cmp.Diff(want[1:], text); diff != "" {
		t.Errorf("(-want +drawn):\n%s", diff)
	}
	var said []string
	for in := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if words, ok := token.(xml.CharData); ok && strings.TrimSpace(string(words)) != "" && !strings.Contains(string(words), "svg{") {
			said = append(said, string(words))
		}
	}
	wantSaid := []string{"<title>", "client", "proxy", "server", "9:00", "a < b?", "thinks", "no", "9:01", "crashes", "hello", "wakes up", "yes"}
	if diff := cmp.Diff(wantSaid, said); diff != "" {
		t.Errorf("(-want +drawn):\n%s", diff)
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	t.Parallel()
	for want, script := range map[string]func(*sequence.Diagram){
		"there is room for 17":                       func(d *sequence.Diagram) { d.Request("client", "proxy", "eighteen letters!!") },
		"there is room for 65":                       func(d *sequence.Diagram) { d.Crash("proxy", strings.Repeat("a", 66)) },
		"there is room for 87":                       func(d *sequence.Diagram) { d.Note("proxy", strings.Repeat("a", 88)) },
		"does not lead from one lifeline to another": func(d *sequence.Diagram) { d.Reply("nobody", "proxy", "") },
		"\"b\" does not lead":                        func(d *sequence.Diagram) { d.Lost("client", "proxy", "b") },
	} {
		d, _ := drawing()
		script(d)
		if _, _, err := d.Draw(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
