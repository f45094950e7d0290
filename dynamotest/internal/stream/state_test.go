package stream

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

func item(t *testing.T, text string) attr.Map {
	t.Helper()
	m, err := attr.DecodeMap(jsonx.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// state returns streams as the text of a data file.
func state(t *testing.T, all Set, latest *Stream) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := journal.WriteFile(&b, func(out *journal.Lines) {
		all.Write(out, func(s *Stream) bool { return s == latest })
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readBack reads the streams of such a text, and which is the latest.
func readBack(t *testing.T, text string) (all Set, latest *Stream) {
	t.Helper()
	all = Set{}
	for i, line := range bytes.SplitAfter([]byte(text), []byte("\n"))[1:] {
		entries, reason := journal.Checked(line, i+2)
		if reason != "" || len(line) == 0 {
			continue
		}
		r := &journal.Reader{Reader: jsonx.NewReader(entries)}
		r.Elements(func() {
			var at time.Time
			r.Members(func(name string) {
				switch name {
				case "At":
					at = r.Time()
				case "Stream":
					s, isLatest := Read(r)
					if all.Redo(s, at); isLatest {
						latest = s
					}
				case "Record":
					if err := all.RedoRecord(ReadRecord(r), at); err != nil {
						t.Fatal(err)
					}
				default:
					r.Unknown(name)
				}
			})
		})
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all, latest
}

// Streams of any year are read back as they were: open and closed ones, and each
// kind of record.
func TestState(t *testing.T) {
	t.Parallel()
	one, two := item(t, `{"id":{"S":"x"},"n":{"N":"1"}}`), item(t, `{"id":{"S":"x"},"n":{"N":"2"}}`)
	table := &catalog.Table{Name: "orders", ARN: "arn", Key: keys.Schema{
		Hash:  []keys.Part{{Name: "id", Kind: attr.S}},
		Range: []keys.Part{{Name: "n", Kind: attr.N}},
	}}
	for _, from := range []time.Time{
		{},
		time.Date(1600, 1, 1, 0, 0, 0, 1, time.UTC), time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Unix(math.MaxInt64/2, 5), time.Unix(math.MinInt64/2, 5),
	} {
		all := Set{}
		s := all.Open(table, "KEYS_ONLY", from)
		for i, c := range []Change{{New: one}, {Old: one, New: two}, {Old: one, New: one}, {Old: two, Expired: true}} {
			s.Add(c, from.Add(time.Duration(i)))
		}
		s.Close(from.Add(time.Hour))
		latest := all.Open(table, "NEW_IMAGE", from.Add(time.Hour))
		text := state(t, all, latest)
		again, ofTable := readBack(t, text)
		if got := state(t, again, ofTable); got != text || ofTable == nil || ofTable.View() != "NEW_IMAGE" {
			t.Errorf("from %v:\n%s\nis read back as\n%s", from, text, got)
		}
		if want, got := times(all), times(again); len(want) != 7 || !slices.EqualFunc(want, got, time.Time.Equal) {
			t.Errorf("from %v: got %v, want %v", from, got, want)
		}
	}
}

// times returns all times of streams.
func times(all Set) (out []time.Time) {
	for _, arn := range slices.Sorted(maps.Keys(all)) {
		s := all[arn]
		out = append(out, s.Created, s.closedAt)
		for _, c := range s.changes.Ascend("") {
			out = append(out, c.at)
		}
	}
	return out
}

// A record needs its stream, and a change.
func TestRecordsWithoutAStream(t *testing.T) {
	t.Parallel()
	all := Set{"arn": {ARN: "arn"}}
	for _, text := range []string{`{"Stream":"other","Number":1,"New":{"id":{"S":"x"}}}`, `{"Stream":"arn","Number":1}`} {
		r := &journal.Reader{Reader: jsonx.NewReader([]byte(text))}
		if err := all.RedoRecord(ReadRecord(r), time.Time{}); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
