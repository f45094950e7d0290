package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/tree"
)

// retention is how long a stream keeps a change, and how long the stream itself
// is kept after it was closed.
const retention = 24 * time.Hour

// A stream has the changes of one table while it is enabled, in the order of
// their commits, in one shard. The engine's mutex guards it.
type stream struct {
	table   string
	key     keys.Schema
	arn     string
	label   string
	view    string
	shard   string
	created time.Time

	closed   bool
	closedAt time.Time

	last    uint64 // the number of the latest change; the first is 1
	changes tree.Tree[streamed]
}

// A streamed is a committed change in a stream.
type streamed struct {
	number   uint64
	at       time.Time
	old, new *record
	expired  bool // deleted by TTL, not by a request
}

// openStream begins a new stream of t.
func (e *Engine) openStream(t *table, view string, now time.Time) {
	s := &stream{table: t.name, key: t.key, view: view, created: now}
	for at := s.created; ; at = at.Add(time.Millisecond) {
		s.label = at.UTC().Format("2006-01-02T15:04:05.000")
		s.arn = t.arn + "/stream/" + s.label
		if e.streams[s.arn] == nil {
			break
		}
	}
	s.shard = fmt.Sprintf("shardId-%020d-%08x", s.created.UnixMilli(), crc32.ChecksumIEEE([]byte(s.arn)))
	for arn, old := range e.streams {
		if old.forgotten(now) {
			delete(e.streams, arn)
		}
	}
	e.streams[s.arn] = s
	t.stream = s
}

// close ends a stream. It can still be read for a while.
func (s *stream) close(now time.Time) {
	if s != nil && !s.closed {
		s.closed, s.closedAt = true, now
	}
}

// open reports whether changes are added to the stream. It may be nil.
func (s *stream) open() bool { return s != nil && !s.closed }

func (s *stream) forgotten(now time.Time) bool { return s.closed && now.Sub(s.closedAt) > retention }

// add adds a change, unless it left the item as it was.
func (s *stream) add(c *change, at time.Time) {
	if c.old != nil && c.new != nil && c.old.item.Equal(c.new.item) {
		return
	}
	s.last++
	s.changes.Set(streamKey(s.last), streamed{number: s.last, at: at, old: c.old, new: c.new, expired: c.expired})
	s.trim(at, 2)
}

// trim removes changes that are too old, but not more than most. Each added
// change removes up to two, so the stream cannot grow for ever.
func (s *stream) trim(now time.Time, most int) {
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
func (s *stream) oldest(now time.Time) uint64 {
	for _, c := range s.changes.Ascend("") {
		if now.Sub(c.at) <= retention {
			return c.number
		}
	}
	return s.last + 1
}

func streamKey(number uint64) string {
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
func (s *stream) write(w *api.Writer, region string, c streamed) {
	item, event := itemOf(c.new), "INSERT"
	switch {
	case c.new == nil:
		item, event = c.old.item, "REMOVE"
	case c.old != nil:
		event = "MODIFY"
	}
	id := sha256.Sum256([]byte(s.arn + sequence(c.number)))
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
		if c.new != nil && (s.view == api.NewImage || s.view == api.NewAndOldImages) {
			w.Item("NewImage", c.new.item)
			size += c.new.size
		}
		if c.old != nil && (s.view == api.OldImage || s.view == api.NewAndOldImages) {
			w.Item("OldImage", c.old.item)
			size += c.old.size
		}
		w.Text("SequenceNumber", sequence(c.number))
		w.Int("SizeBytes", int64(size))
		w.Text("StreamViewType", s.view)
	})
	if c.expired {
		w.Object("userIdentity", func() {
			w.Text("Type", "Service")
			w.Text("PrincipalId", "dynamodb.amazonaws.com")
		})
	}
}

// bytes returns roughly how much of a reply a change takes.
func (c *streamed) bytes() int { return sizeOf(c.old) + sizeOf(c.new) }
