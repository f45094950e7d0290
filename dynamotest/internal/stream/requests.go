package stream

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// iteratorLife is how long an iterator may be used.
const iteratorLife = 15 * time.Minute

// listed is the most streams in one reply.
const listed = 100

// A Reply writes the members of a reply.
type Reply = func(w *api.Writer)

// named returns the stream with an ARN.
func (all Set) named(arn string, now time.Time) (*Stream, *api.Error) {
	if s := all[arn]; s != nil && !s.forgotten(now) {
		return s, nil
	}
	return nil, &api.Error{Code: api.ResourceNotFound, Message: "Requested resource not found: Stream: " + arn + " not found"}
}

// List executes ListStreams.
func (all Set) List(req *api.ListStreams, now time.Time) Reply {
	var found []*Stream
	for _, arn := range slices.Sorted(maps.Keys(all)) {
		s := all[arn]
		if arn > req.Start.Value && !s.forgotten(now) && (!req.TableName.Set || s.Table == api.TableNameOf(req.TableName.Value)) {
			found = append(found, s)
		}
	}

	most := int(req.Limit.Or(listed))
	return func(w *api.Writer) {
		w.Array("Streams", func() {
			for _, s := range found[:min(most, len(found))] {
				w.Element(func() {
					w.Text("StreamArn", s.ARN)
					w.Text("StreamLabel", s.label)
					w.Text("TableName", s.Table)
				})
			}
		})
		if len(found) > most {
			w.Text("LastEvaluatedStreamArn", found[most-1].ARN)
		}
	}
}

// Describe executes DescribeStream.
func (all Set) Describe(req *api.DescribeStream, now time.Time) (Reply, *api.Error) {
	s, err := all.named(req.Stream.Value, now)
	if err != nil {
		return nil, err
	}

	closed, first, last := s.closed, s.oldest(now), s.last
	// The only shard has no children, and no shard follows it.
	shards := !req.ChildrenOf.Set && req.StartShard.Value < s.shard
	return func(w *api.Writer) {
		w.Object("StreamDescription", func() {
			w.Text("StreamArn", s.ARN)
			w.Text("StreamLabel", s.label)
			status := "ENABLED"
			if closed {
				status = "DISABLED"
			}

			w.Text("StreamStatus", status)
			w.Text("StreamViewType", s.view)
			w.Time("CreationRequestDateTime", s.Created)
			w.Text("TableName", s.Table)
			s.key.Describe(w)

			w.Array("Shards", func() {
				if shards {
					w.Element(func() { s.describeShard(w, closed, first, last) })
				}
			})
		})
	}, nil
}

func (s *Stream) describeShard(w *api.Writer, closed bool, first, last uint64) {
	w.Text("ShardId", s.shard)
	w.Object("SequenceNumberRange", func() {
		w.Text("StartingSequenceNumber", sequence(first))
		if closed {
			w.Text("EndingSequenceNumber", sequence(max(first, last)))
		}
	})
}

// An iterator is a place in a stream: before the change with the given number.
type iterator struct {
	arn    string
	next   uint64
	issued time.Time
}

// String returns the iterator as clients get it. They must treat it as opaque.
func (i iterator) String() string {
	place := fmt.Sprintf("%d %d", i.next, i.issued.UnixMilli())
	return i.arn + "|1|" + base64.RawURLEncoding.EncodeToString([]byte(place))
}

func parseIterator(text string) (i iterator, ok bool) {
	arn, rest, ok := strings.Cut(text, "|1|")
	if !ok {
		return i, false
	}
	place, err := base64.RawURLEncoding.DecodeString(rest)
	var ms int64
	if err == nil {
		_, err = fmt.Sscanf(string(place), "%d %d", &i.next, &ms)
	}
	i.arn, i.issued = arn, time.UnixMilli(ms)
	return i, err == nil && i.next > 0 && i.String() == text
}

// Iterator executes GetShardIterator.
func (all Set) Iterator(req *api.GetShardIterator, now time.Time) (Reply, *api.Error) {
	s, err := all.named(req.Stream.Value, now)
	if err != nil {
		return nil, err
	}
	if req.Shard.Value != s.shard {
		return nil, &api.Error{Code: api.ResourceNotFound, Message: fmt.Sprintf("Requested resource not found: Shard: %s in Stream: %s not found", req.Shard.Value, s.ARN)}
	}

	next, err := s.place(req, now)
	if err != nil {
		return nil, err
	}

	i := iterator{s.ARN, next, now}
	return func(w *api.Writer) { w.Text("ShardIterator", i.String()) }, nil
}

var errTrimmed = &api.Error{Code: api.TrimmedData, Message: "The operation attempted to read past the oldest stream record in a shard"}

// place returns the number of the change with which an iterator is to begin.
func (s *Stream) place(req *api.GetShardIterator, now time.Time) (uint64, *api.Error) {
	switch req.Type.Value {
	case api.TrimHorizon:
		return s.oldest(now), nil
	case api.Latest:
		return s.last + 1, nil
	}

	n, ok := numberOf(req.Sequence.Value)
	oldest := s.oldest(now)
	switch {
	case ok && n == oldest && n > s.last:
		return n, nil // a shard without records begins with its first record to come
	case !ok || n > s.last:
		return 0, api.InvalidParameter("Invalid SequenceNumber: %s", req.Sequence.Value)
	case req.Type.Value == api.AfterSequence:
		n++
	}

	if n < oldest {
		return 0, errTrimmed
	}
	return n, nil
}

// recordBytes is the size that ends a page of records.
const recordBytes = 1 << 20

// Records executes GetRecords.
func (all Set) Records(req *api.GetRecords, region string, now time.Time) (Reply, *api.Error) {
	i, ok := parseIterator(req.Iterator.Value)
	if !ok {
		return nil, api.Invalid("Invalid ShardIterator")
	}
	if now.Sub(i.issued) > iteratorLife {
		return nil, &api.Error{Code: api.ExpiredIterator, Message: "Iterator expired. The iterator was created at time " + i.issued.UTC().Format(time.RFC3339) +
			" while right now it is " + now.UTC().Format(time.RFC3339)}
	}

	s, err := all.named(i.arn, now)
	if err != nil {
		return nil, err
	}
	if i.next < s.oldest(now) {
		return nil, errTrimmed
	}

	records := s.read(i.next, int(req.Limit.Or(api.MaxRecords)))
	if n := len(records); n > 0 {
		i.next = records[n-1].number + 1
	}

	done := s.closed && i.next > s.last
	return func(w *api.Writer) {
		w.Array("Records", func() {
			for _, c := range records {
				w.Element(func() { s.write(w, region, c) })
			}
		})
		if !done {
			w.Text("NextShardIterator", iterator{i.arn, i.next, now}.String())
		}
	}, nil
}

// read returns up to most changes, beginning with the number from.
func (s *Stream) read(from uint64, most int) (out []numbered) {
	bytes := 0
	for _, c := range s.changes.Ascend(numberKey(from)) {
		out = append(out, c)
		if bytes += c.Old.Size() + c.New.Size(); len(out) == most || bytes >= recordBytes {
			break
		}
	}
	return out
}
