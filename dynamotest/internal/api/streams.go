package api

import (
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// The errors that only streams have.
const (
	ExpiredIterator = "ExpiredIteratorException"
	TrimmedData     = "TrimmedDataAccessException"
)

// The views that a stream may show of a change.
const (
	KeysOnly        = "KEYS_ONLY"
	NewImage        = "NEW_IMAGE"
	OldImage        = "OLD_IMAGE"
	NewAndOldImages = "NEW_AND_OLD_IMAGES"
)

// ListStreams lists streams.
type ListStreams struct {
	TableName Opt[string]
	Start     Opt[string]
	Limit     Opt[int64]
}

func (l *ListStreams) field(r *jsonx.Reader, member string) {
	switch member {
	case "TableName":
		l.TableName = name(r)
	case "ExclusiveStartStreamArn":
		l.Start = text(r)
	case "Limit":
		l.Limit = integer(r)
	default:
		r.Skip()
	}
}

const maxStreams = 100

func (l *ListStreams) check(c *checker) {
	if l.TableName.Set {
		c.tableName("tableName", l.TableName)
	}
	c.arnLength("exclusiveStartStreamArn", l.Start)
	c.streamsLimit(l.Limit)
	c.wellFormed(l.Start) // last: only if nothing else is wrong
}

// streamsLimit checks the limit for the streams, or the shards of a stream, on
// a page.
func (c *checker) streamsLimit(limit Opt[int64]) {
	c.atLeast("limit", limit, 1)
	if limit.Value > maxStreams && c.ok() {
		c.fail(InvalidParameter("Limit cannot be greater than the maximum allowed size: %d", maxStreams))
	}
}

// DescribeStream describes a stream and its shards.
type DescribeStream struct {
	Stream     Opt[string]
	StartShard Opt[string]
	Limit      Opt[int64]
	// Filtered is set when the shards asked for are the children of another.
	Filtered   bool
	FilterType Opt[string]
	ChildrenOf Opt[string]
}

func (d *DescribeStream) field(r *jsonx.Reader, member string) {
	switch member {
	case "StreamArn":
		d.Stream = text(r)
	case "ExclusiveStartShardId":
		d.StartShard = text(r)
	case "Limit":
		d.Limit = integer(r)
	case "ShardFilter":
		d.Filtered = true
		object(r, func(r *jsonx.Reader, member string) {
			switch member {
			case "Type":
				d.FilterType = name(r)
			case "ShardId":
				d.ChildrenOf = text(r)
			default:
				r.Skip()
			}
		})
	default:
		r.Skip()
	}
}

func (d *DescribeStream) check(c *checker) {
	c.require("streamArn", d.Stream.Set)
	c.arnLength("streamArn", d.Stream)
	c.shardID("exclusiveStartShardId", d.StartShard)
	if d.Filtered {
		c.require("shardFilter.type", d.FilterType.Set)
		c.enum("shardFilter.type", d.FilterType, "CHILD_SHARDS")
		c.require("shardFilter.shardId", d.ChildrenOf.Set)
		c.shardID("shardFilter.shardId", d.ChildrenOf)
	}
	c.streamsLimit(d.Limit)
	c.wellFormed(d.Stream)
}

// The places where an iterator may begin.
const (
	TrimHorizon   = "TRIM_HORIZON"
	Latest        = "LATEST"
	AtSequence    = "AT_SEQUENCE_NUMBER"
	AfterSequence = "AFTER_SEQUENCE_NUMBER"
)

// GetShardIterator returns a place to read from.
type GetShardIterator struct {
	Stream, Shard, Type, Sequence Opt[string]
}

func (g *GetShardIterator) field(r *jsonx.Reader, member string) {
	switch member {
	case "StreamArn":
		g.Stream = text(r)
	case "ShardId":
		g.Shard = text(r)
	case "ShardIteratorType":
		g.Type = name(r)
	case "SequenceNumber":
		g.Sequence = text(r)
	default:
		r.Skip()
	}
}

// The bounds of the names of streams, shards and records.
const (
	minARN, maxARN           = 37, 1024
	minShard, maxShard       = 28, 65
	minSequence, maxSequence = 21, 40
)

func (g *GetShardIterator) check(c *checker) {
	for _, m := range []struct {
		name  string
		value Opt[string]
	}{{"streamArn", g.Stream}, {"shardId", g.Shard}, {"shardIteratorType", g.Type}} {
		c.require(m.name, m.value.Set)
	}

	c.arnLength("streamArn", g.Stream)
	c.shardID("shardId", g.Shard)
	c.enum("shardIteratorType", g.Type, TrimHorizon, Latest, AtSequence, AfterSequence)

	if g.Sequence.Set {
		c.length("sequenceNumber", g.Sequence.Value, len(g.Sequence.Value), minSequence, maxSequence)
	}

	if c.wellFormed(g.Stream); !c.ok() {
		return
	}

	switch needed := g.Type.Value == AtSequence || g.Type.Value == AfterSequence; {
	case needed && !g.Sequence.Set:
		c.fail(InvalidParameter("Invalid SequenceNumber"))
	case !needed && g.Sequence.Set:
		c.fail(InvalidParameter("SequenceNumber should not be passed for this iterator type"))
	}
}

func (c *checker) arnLength(member string, arn Opt[string]) {
	if arn.Set {
		c.length(member, arn.Value, len(arn.Value), minARN, maxARN)
	}
}

// wellFormed refuses a text that is not the ARN of a stream, if nothing else is wrong. The
// stream need not exist.
func (c *checker) wellFormed(arn Opt[string]) {
	if !arn.Set || !c.ok() {
		return
	}
	parts := strings.SplitN(arn.Value, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" || parts[2] != "dynamodb" || !strings.HasPrefix(parts[5], "table/") || !strings.Contains(parts[5], "/stream/") {
		c.fail(Invalid("Invalid StreamArn"))
	}
}

func (c *checker) shardID(member string, id Opt[string]) {
	if id.Set {
		c.length(member, id.Value, len(id.Value), minShard, maxShard)
	}
}

// GetRecords reads records, beginning at an iterator.
type GetRecords struct {
	Iterator Opt[string]
	Limit    Opt[int64]
}

func (g *GetRecords) field(r *jsonx.Reader, member string) {
	switch member {
	case "ShardIterator":
		g.Iterator = text(r)
	case "Limit":
		g.Limit = integer(r)
	default:
		r.Skip()
	}
}

// MaxRecords is the most records of one reply.
const MaxRecords = 1000

func (g *GetRecords) check(c *checker) {
	if c.require("shardIterator", g.Iterator.Set); g.Iterator.Set {
		c.length("shardIterator", g.Iterator.Value, len(g.Iterator.Value), 1, 2048)
	}
	c.atLeast("limit", g.Limit, 1)
	if g.Limit.Value > MaxRecords && c.ok() {
		c.fail(InvalidParameter("Limit should be less than or equal to %d", MaxRecords))
	}
}

// stream checks the settings of a stream.
func (c *checker) stream(s Opt[Stream]) {
	if !s.Set {
		return
	}

	c.require("streamSpecification.streamEnabled", s.Value.Enabled.Set)
	c.enum("streamSpecification.streamViewType", s.Value.View, NewImage, OldImage, NewAndOldImages, KeysOnly)
	if !c.ok() {
		return
	}

	switch enabled := s.Value.Enabled.Value; {
	case enabled && !s.Value.View.Set:
		c.fail(InvalidParameter("A StreamViewType must be specified when a stream is enabled"))
	case !enabled && s.Value.View.Set:
		c.fail(InvalidParameter("Table is being created with a stream disabled, UpdateViewType should not be specified"))
	}
}
