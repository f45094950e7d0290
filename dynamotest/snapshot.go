package dynamotest

import (
	"fmt"
	"io"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// Snapshot is what a server held at one time: tables, items, the tokens of
// transactions. It never changes and may serve many servers. Trees are shared
// until one side writes, so that taking and restoring one costs a few
// microseconds for each table, however many items it has.
type Snapshot struct{ engine *engine.Snapshot }

// Snapshot returns what the server holds now.
func (s *Server) Snapshot() *Snapshot { return &Snapshot{s.engine.Snapshot()} }

// Restore makes the server hold what it did, or another did, when the snapshot
// was taken. Faults and meters stay; what was held is released, and the partitions
// of its tables begin cold. A server with a data file cannot go back: it panics.
func (s *Server) Restore(from *Snapshot) { s.engine.Restore(from.engine) }

// Fork returns a server of its own, with the same settings, that begins with
// what this one holds now: seed once, fork for each test. The fork has no faults
// and no meters, holds no index and no reads back, and has no file. [Use] fails a
// test for faults of its fork that never fired.
//
// "The same settings" includes the clock. A fork with a clock or other settings of
// its own is a server that begins with the snapshot:
//
//	db := dynamotest.New(t, &dynamotest.Config{From: seeded.Snapshot(), Now: clock.Now})
func (s *Server) Fork() *Server {
	cfg := s.cfg
	cfg.From = s.Snapshot()
	return NewServer(&cfg)
}

// Dump writes all tables as JSON lines, the same state always in the same
// bytes: for each table a line with its definition, in the form that CreateTable
// takes, and then a line for each item.
//
//	{"Table":{"TableName":"orders",…},"TimeToLive":"expiresAt","PointInTimeRecovery":{"RecoveryPeriodInDays":35}}
//	{"Item":{"customer":{"S":"ann"},"number":{"N":"1"}}}
//
// A definition has every setting, tags and the stream's view type included.
// What is left out is what belongs to one server's past: table ids, times, the
// records of streams, the tokens of transactions. A [Snapshot] and the file of
// [OpenServer] have those too. An item whose attributes do not suit the key of an
// index, because it is older than the index, says so: {"Item":{…},"Unindexed":true}.
func (s *Server) Dump(w io.Writer) error {
	if err := s.engine.Snapshot().Dump(w); err != nil {
		return fmt.Errorf("dynamotest: dump: %w", err)
	}
	return nil
}

// Load creates the tables of a [Server.Dump] with their items: all of them or,
// when a line is wrong or a table exists already, none. What is compressed by
// gzip is unpacked. Nothing is charged, no fault concerns it, and streams begin
// after it.
func (s *Server) Load(r io.Reader) error {
	if err := s.engine.Load(r); err != nil {
		return fmt.Errorf("dynamotest: load: %w", err)
	}
	return nil
}

// LoadItems puts items into a table that exists, in the place of those with
// the same keys: all of them or, when a line is wrong, none. The error names the
// line. It takes the item lines of a dump and the data files of DynamoDB's exports
// to S3 in the format DYNAMODB_JSON, compressed by gzip, as those are, or not:
//
//	{"Item":{…}}                                       a full export
//	{"Metadata":{…},"Keys":{…},"NewImage":{…}}         an incremental one: the item is put
//	{"Metadata":{…},"Keys":{…}}                        and here it is deleted
//
// An OldImage is not looked at. Data files can be loaded in any order, for each
// key stands in one of them; exports are loaded in the order of their times.
// Manifests, Amazon Ion, CSV and zstd are refused.
func (s *Server) LoadItems(table string, r io.Reader) error {
	if err := s.engine.LoadItems(table, r); err != nil {
		return fmt.Errorf("dynamotest: load into %s: %w", table, err)
	}
	return nil
}
