package dynamotest

import (
	"fmt"
	"io"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// Snapshot is the state of a server at one time: tables, items, streams, and
// the tokens of transactions. A Snapshot never changes, and many servers may
// use it. Servers and snapshots share their items until a server writes, so
// taking or restoring a snapshot costs a few microseconds for each table, for
// any number of items.
type Snapshot struct{ engine *engine.Snapshot }

// Snapshot returns the present state of the server.
func (s *Server) Snapshot() *Snapshot { return &Snapshot{s.engine.Snapshot()} }

// Restore gives the server the state of the snapshot, which may come from another
// server. Faults and meters stay, holds are released, and the partitions of the
// tables begin without load. If the server has a data file, Restore panics,
// because the file cannot go back to an earlier state.
func (s *Server) Restore(from *Snapshot) { s.engine.Restore(from.engine) }

// Fork returns a new server with the same settings and the present state of this
// server. Seed one server, and fork it for each test. The fork has no faults, no
// meters, no holds and no file. Give the fork to [Use], which fails the test if a
// fault of the fork never fired.
//
// The fork has the same clock. For another clock or other settings, begin a new
// server with the snapshot:
//
//	db := dynamotest.New(t, &dynamotest.Config{From: seeded.Snapshot(), Now: clock.Now})
func (s *Server) Fork() *Server {
	cfg := s.cfg
	cfg.From = s.Snapshot()
	return NewServer(&cfg)
}

// Dump writes all tables as JSON lines: for each table a line with its
// definition, in the form of CreateTable's input, and then a line for each item.
// The same state always gives the same bytes.
//
//	{"Table":{"TableName":"orders",…},"TimeToLive":"expiresAt","PointInTimeRecovery":{"RecoveryPeriodInDays":35}}
//	{"Item":{"customer":{"S":"ann"},"number":{"N":"1"}}}
//
// A definition has every setting, including tags and the stream's view type. Dump
// leaves out the history of the server: table ids, times, the records of streams,
// the tokens of transactions. A [Snapshot] and the file of [OpenServer] include the
// history. An item is marked {"Item":{…},"Unindexed":true} if it is older than an
// index and its attributes do not fit the index's key.
func (s *Server) Dump(w io.Writer) error {
	if err := s.engine.Snapshot().Dump(w); err != nil {
		return fmt.Errorf("dynamotest: dump: %w", err)
	}
	return nil
}

// Load creates the tables of a [Server.Dump] with their items. If a line is
// wrong, or if one of the tables exists already, Load creates nothing. The dump
// may be compressed with gzip. Load consumes no units, meets no faults, and
// leaves no records in streams.
func (s *Server) Load(r io.Reader) error {
	if err := s.engine.Load(r); err != nil {
		return fmt.Errorf("dynamotest: load: %w", err)
	}
	return nil
}

// LoadItems puts items into an existing table. An item replaces an existing item
// with the same key. If a line is wrong, LoadItems changes nothing, and the
// error names the line. It reads the item lines of a dump, and the data files of
// DynamoDB's exports to S3 in the format DYNAMODB_JSON, compressed with gzip or
// not:
//
//	{"Item":{…}}                                       a full export
//	{"Metadata":{…},"Keys":{…},"NewImage":{…}}         an incremental one: the item is put
//	{"Metadata":{…},"Keys":{…}}                        and here it is deleted
//
// An OldImage is ignored. The data files of one export can be loaded in any
// order, because each key is in only one file. Load several exports in the
// order of their times. Manifests, Amazon Ion, CSV and zstd are errors.
func (s *Server) LoadItems(table string, r io.Reader) error {
	if err := s.engine.LoadItems(table, r); err != nil {
		return fmt.Errorf("dynamotest: load into %s: %w", table, err)
	}
	return nil
}
