// Package stream has the streams of tables: what they keep of each change, the
// requests that read them, and their state in a data file.
package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/tree"
)

// retention is how long a stream keeps a change, and how long the stream itself
// is kept after it was closed.
const retention = 24 * time.Hour

// A Stream has the changes of one table while it is enabled, in the order of
// their commits, in one shard. Its owner guards it.
type Stream struct {
	Table   string
	ARN     string
	Created time.Time

	key   keys.Schema
	label string
	view  string
	shard string

	closed   bool
	closedAt time.Time

	last    uint64 // the number of the latest change; the first is 1
	changes tree.Tree[numbered]
}

// A Change is one of an item: nil before it existed, or after its end.
type Change struct {
	Old, New attr.Map
	Expired  bool // deleted by TTL, not by a request
}

// A numbered change is one in a stream.
type numbered struct {
	Change
	number uint64
	at     time.Time
}

// A Set has streams by ARN, also those of deleted tables.
type Set map[string]*Stream

// Open begins a new stream of a table, and forgets those that were closed long
// ago.
func (all Set) Open(table *catalog.Table, view string, now time.Time) *Stream {
	s := &Stream{Table: table.Name, key: table.Key, view: view, Created: now}
	for at := s.Created; ; at = at.Add(time.Millisecond) {
		s.label = at.UTC().Format("2006-01-02T15:04:05.000")
		s.ARN = table.ARN + "/stream/" + s.label
		if all[s.ARN] == nil {
			break
		}
	}

	s.shard = fmt.Sprintf("shardId-%020d-%08x", s.Created.UnixMilli(), crc32.ChecksumIEEE([]byte(s.ARN)))
	for arn, old := range all {
		if old.forgotten(now) {
			delete(all, arn)
		}
	}

	all[s.ARN] = s
	return s
}

// Clone returns copies that do not change with the streams.
func (all Set) Clone() Set {
	out := make(Set, len(all))
	for arn, s := range all {
		c := *s
		c.changes = *s.changes.Clone()
		out[arn] = &c
	}
	return out
}

// Close ends a stream, which may be nil. It can still be read for a while.
func (s *Stream) Close(now time.Time) {
	if s != nil && !s.closed {
		s.closed, s.closedAt = true, now
	}
}

// Open reports whether changes are added to the stream. It may be nil.
func (s *Stream) Open() bool { return s != nil && !s.closed }

// View returns what the records of an open stream have, or "" for another, which
// may be nil.
func (s *Stream) View() string {
	if !s.Open() {
		return ""
	}
	return s.view
}

// Described returns what a table's description says of its stream, which may be
// nil.
func (s *Stream) Described() *catalog.Stream {
	if s == nil {
		return nil
	}
	return &catalog.Stream{Open: s.Open(), View: s.view, Label: s.label, ARN: s.ARN}
}

func (s *Stream) forgotten(now time.Time) bool { return s.closed && now.Sub(s.closedAt) > retention }

// Add adds a change, unless it left the item as it was, or the stream, which may
// be nil, is not open.
func (s *Stream) Add(c Change, at time.Time) {
	if !s.Open() || c.Old != nil && c.New != nil && c.Old.Equal(c.New) {
		return
	}
	s.last++
	s.changes.Set(numberKey(s.last), numbered{c, s.last, at})
	s.trim(at, 2)
}

// trim removes changes that are too old, but not more than most. Each added
// change removes up to two, so the stream cannot grow for ever.
func (s *Stream) trim(now time.Time, most int) {
	for range most {
		for key, c := range s.changes.Ascend("") {
			if now.Sub(c.at) <= retention {
				return
			}
			s.changes.Delete(key)
			break
		}
	}
}

// oldest returns the number of the oldest change that has not been trimmed, or
// else of the next change.
func (s *Stream) oldest(now time.Time) uint64 {
	for _, c := range s.changes.Ascend("") {
		if now.Sub(c.at) <= retention {
			return c.number
		}
	}
	return s.last + 1
}

func numberKey(number uint64) string {
	return string(binary.BigEndian.AppendUint64(nil, number))
}

// Sequence numbers have at least 21 digits and do not begin with a zero, so
// that they also sort as texts.
const sequenceBase = "1"

func sequence(number uint64) string { return fmt.Sprintf("%s%020d", sequenceBase, number) }

// numberOf returns the number of a change, or false if no change can have the
// sequence number.
func numberOf(sequenceNumber string) (uint64, bool) {
	var n uint64
	if len(sequenceNumber) != len(sequence(0)) {
		return 0, false
	}
	if _, err := fmt.Sscanf(sequenceNumber, sequenceBase+"%020d", &n); err != nil || sequence(n) != sequenceNumber {
		return 0, false
	}
	return n, n >= 1
}

// write writes a change as one of the stream's records.
func (s *Stream) write(w *api.Writer, region string, c numbered) {
	item, event := c.New, "INSERT"
	switch {
	case c.New == nil:
		item, event = c.Old, "REMOVE"
	case c.Old != nil:
		event = "MODIFY"
	}

	id := sha256.Sum256([]byte(s.ARN + sequence(c.number)))
	w.Text("eventID", hex.EncodeToString(id[:16]))
	w.Text("eventName", event)
	w.Text("eventVersion", "1.1")
	w.Text("eventSource", "aws:dynamodb")
	w.Text("awsRegion", region)

	w.Object("dynamodb", func() {
		keys := s.key.Pick(item)
		size := keys.Size()
		w.Int("ApproximateCreationDateTime", c.at.Unix())
		w.Item("Keys", keys)

		if c.New != nil && (s.view == api.NewImage || s.view == api.NewAndOldImages) {
			w.Item("NewImage", c.New)
			size += c.New.Size()
		}

		if c.Old != nil && (s.view == api.OldImage || s.view == api.NewAndOldImages) {
			w.Item("OldImage", c.Old)
			size += c.Old.Size()
		}

		w.Text("SequenceNumber", sequence(c.number))
		w.Int("SizeBytes", int64(size))
		w.Text("StreamViewType", s.view)
	})

	if c.Expired {
		w.Object("userIdentity", func() {
			w.Text("Type", "Service")
			w.Text("PrincipalId", "dynamodb.amazonaws.com")
		})
	}
}
