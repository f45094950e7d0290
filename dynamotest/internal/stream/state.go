package stream

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

// Write writes the streams, each with its records. latest reports whether a stream
// is the latest of an existing table.
func (all Set) Write(out *journal.Lines, latest func(*Stream) bool) {
	for _, arn := range slices.Sorted(maps.Keys(all)) {
		s := all[arn]
		out.Add(s.Created, func(w *api.Writer) { s.Write(w, latest(s)) })
		for _, c := range s.changes.Ascend("") {
			out.Add(c.at, func(w *api.Writer) { c.writeState(w, arn) })
		}
	}
}

// Write writes a stream without its records.
func (s *Stream) Write(w *api.Writer, latest bool) {
	w.Object("Stream", func() {
		w.Text("Arn", s.ARN)
		w.Text("TableName", s.Table)
		w.Array("Key", func() {
			for _, p := range s.key.Hash {
				writeKeyPart(w, p, api.Hash)
			}
			for _, p := range s.key.Range {
				writeKeyPart(w, p, api.Range)
			}
		})

		w.Text("View", s.view)
		w.Text("Label", s.label)
		w.Text("Shard", s.shard)
		w.Int("Last", int64(s.last))

		if s.closed {
			journal.WriteTime(w, "ClosedAt", s.closedAt)
		}

		w.Bool("Latest", latest)
	})
}

func writeKeyPart(w *api.Writer, p keys.Part, kind string) {
	w.Element(func() {
		w.Text("Name", p.Name)
		w.Text("Type", p.Kind.String())
		w.Text("Kind", kind)
	})
}

// Read reads what Write wrote, except the time.
func Read(r *journal.Reader) (s *Stream, latest bool) {
	s = new(Stream)
	r.Members(func(name string) {
		switch name {
		case "Arn":
			s.ARN = r.String()
		case "TableName":
			s.Table = r.String()
		case "Key":
			r.Elements(func() { readKeyPart(r, &s.key) })
		case "View":
			s.view = r.String()
		case "Label":
			s.label = r.String()
		case "Shard":
			s.shard = r.String()
		case "Last":
			s.last = uint64(r.Int())
		case "ClosedAt":
			s.closed, s.closedAt = true, r.Time()
		case "Latest":
			latest = r.Bool()
		default:
			r.Unknown(name)
		}
	})

	return s, latest
}

func readKeyPart(r *journal.Reader, key *keys.Schema) {
	var p keys.Part
	kind := ""
	r.Members(func(name string) {
		switch name {
		case "Name":
			p.Name = r.String()
		case "Type":
			p.Kind = attr.KindOf(r.String())
		case "Kind":
			kind = r.String()
		default:
			r.Unknown(name)
		}
	})

	if kind == api.Hash {
		key.Hash = append(key.Hash, p)
	} else {
		key.Range = append(key.Range, p)
	}
}

func (c *numbered) writeState(w *api.Writer, arn string) {
	w.Object("Record", func() {
		w.Text("Stream", arn)
		w.Int("Number", int64(c.number))
		if c.Old != nil {
			w.Item("Old", c.Old)
		}
		if c.New != nil {
			w.Item("New", c.New)
		}
		if c.Expired {
			w.Bool("Expired", true)
		}
	})
}

// A Record is a change as read back, with the ARN of its stream.
type Record struct {
	stream string
	numbered
}

// ReadRecord reads a record of a stream, except its time.
func ReadRecord(r *journal.Reader) *Record {
	var c Record
	r.Members(func(name string) {
		switch name {
		case "Stream":
			c.stream = r.String()
		case "Number":
			c.number = uint64(r.Int())
		case "Old":
			c.Old = r.Item()
		case "New":
			c.New = r.Item()
		case "Expired":
			c.Expired = r.Bool()
		default:
			r.Unknown(name)
		}
	})

	return &c
}

// Redo puts a stream back as it was made at a time.
func (all Set) Redo(s *Stream, at time.Time) {
	s.Created = at
	all[s.ARN] = s
}

// RedoRecord puts a record back.
func (all Set) RedoRecord(c *Record, at time.Time) error {
	s := all[c.stream]
	if s == nil || c.Old == nil && c.New == nil {
		return fmt.Errorf("a record of stream %q, which is not there or did not change", c.stream)
	}
	c.at = at
	s.changes.Set(numberKey(c.number), c.numbered)
	return nil
}
