package dynamotest

import (
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/fault"
	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

// Config configures a server. The zero Config works.
type Config struct {
	// Now is the server's clock. It determines expiry, the age of idempotency
	// tokens, stream records and iterators, creation times, lags and limits. The SDK
	// cannot decode a reply with a time before 1678 or after 2262. Defaults to
	// time.Now.
	Now func() time.Time

	// Latency is how long each request takes. A request that the server refuses by
	// a fault without [Failure.After], such as Throttle, takes half of it. Malformed
	// requests take no time. Requests that LoseRequest or Answer keeps from the server
	// do not either. Inside a synctest bubble, the Latency is virtual, so a test can
	// count dependent round trips: with a Latency of one second, a call that takes
	// three seconds made three dependent round trips. Defaults to 0.
	Latency time.Duration

	// MaxBackoff is the longest time that clients from [Server.Client] and
	// [DB.Client] wait before they send a request again. It does not change the
	// number of attempts. With a MaxBackoff of one millisecond, a test of lost
	// replies takes less than a second. Defaults to the SDK's limits: clients
	// wait up to two seconds before the second attempt, and up to four before the
	// third. Inside a synctest bubble, these waits take no real time. For clients
	// of other endpoints, use the option [MaxBackoff].
	MaxBackoff time.Duration

	// PartitionLimits is what one partition can take in a second of the server's
	// clock; [Heat] says what a partition is. A partition saves at most one
	// second's worth of units, even after a long idle time. It regains used units
	// evenly. So a partition can take one second's worth at once, and up to two
	// seconds' worth within one second. A request passes if any units are left,
	// even if it needs more units than are left. In that case, the partition is
	// in debt, and refuses the next requests until it has regained the debt. So
	// such a request can exceed the two seconds' worth. AWS may give a partition
	// additional units for up to five minutes. This server does not.
	//
	// A refused request gets ProvisionedThroughputExceededException, or
	// ThrottlingException if the table is on demand. A refused entry of
	// BatchGetItem or BatchWriteItem comes back unprocessed. If no entry gets
	// through, the whole batch gets the error. A refused statement of
	// BatchExecuteStatement has an Error of its own. A refused transaction is
	// cancelled.
	//
	// DynamoDB's limits are Units{RCU: 3000, WCU: 1000}. With infinite limits, no
	// partition is throttled, but [Server.Heat] still shows the load. If only RCU is
	// set, writes are not limited; if only WCU is set, reads are not limited.
	// Defaults to no limits.
	PartitionLimits Units

	// ProvisionedLimits limits tables in provisioned mode to their
	// ProvisionedThroughput, on the server's clock. A global index has throughput
	// of its own. If the index has no units left, a write that needs units of the
	// index is refused, and ThrottlingReasons name the index. A local index uses the
	// throughput of its table. Unused throughput is kept for bursts, up to 300
	// seconds' worth, as AWS documents. A new table begins with one second's worth.
	// As with PartitionLimits, a request passes if any units are left, and refused
	// requests get the same errors. If both limits are set, a request must pass
	// both. A change of the throughput by UpdateTable takes effect at once. The
	// table then keeps its unused throughput, up to 300 seconds' worth of the new
	// throughput. If the table goes on demand, its unused throughput is lost.
	//
	// The server has no adaptive capacity, because the partitions of a table
	// share all its throughput anyway. It has no auto scaling. AWS may spend burst
	// capacity on maintenance. This server does not. OnDemandThroughput, warm
	// throughput and the quotas of an account limit nothing. Defaults to false.
	ProvisionedLimits bool

	// IndexLag is how far global indexes are behind their tables, on the server's
	// clock. ReadLag is how far eventually consistent reads of a table and of its
	// local indexes are behind. A new index first shows what its table held when
	// the index was made. Reads go back to an older state only if the clock goes
	// back. See also [Server.HoldIndex]. Both lags default to 0.
	IndexLag, ReadLag time.Duration

	// From is the state that the server begins with. [OpenServer] does not
	// accept From: seed its file with [Server.Load]. Defaults to an empty
	// server.
	From *Snapshot
}

// Server is a DynamoDB in this process. It is safe for concurrent use, and
// needs Close only if it has a data file.
type Server struct {
	tap    *Tap
	cfg    Config
	engine *engine.Engine
	file   string // with the data; may be ""
}

// NewServer returns a server, which is empty unless [Config].From is set. A nil
// Config works.
func NewServer(cfg *Config) *Server {
	if cfg == nil {
		cfg = &Config{}
	}

	eng := engine.New(engine.Options{
		Now:      cfg.Now,
		IndexLag: cfg.IndexLag, ReadLag: cfg.ReadLag,
		Partition:   capacity.Units{Read: cfg.PartitionLimits.RCU, Write: cfg.PartitionLimits.WCU},
		Provisioned: cfg.ProvisionedLimits,
	})

	faults := fault.NewSet(eng)
	control := &control{faults: faults, engine: eng, latency: cfg.Latency}
	if cfg.Latency > 0 {
		control.arm()
	}

	s := &Server{tap: &Tap{faults: faults, server: control}, cfg: *cfg, engine: eng}
	if cfg.From != nil {
		s.Restore(cfg.From)
	}

	return s
}

// Tap returns the server's Tap. All clients from [Server.Client] have this Tap.
func (s *Server) Tap() *Tap { return s.tap }

// Client returns a client of the server, with the server's Tap attached. It is the
// SDK's client over a transport that calls the server on the caller's goroutine.
// It resolves no endpoint and signs no requests, because only requests over a
// network need that. The options apply after the defaults and before the Tap. So
// if an option wraps o.HTTPClient, the wrapper is behind the Tap: it does not see
// the losses and delays that the Tap causes. For a wrapper that sees them, wrap
// the HTTPClient in the client's Options, and make a client of your own.
func (s *Server) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	defaults := func(o *dynamodb.Options) {
		stayInProcess(o, s.Transport())
		if s.cfg.MaxBackoff > 0 {
			MaxBackoff(s.cfg.MaxBackoff)(o)
		}
	}
	options = append([]func(*dynamodb.Options){defaults}, options...)
	return Connect(here.String(), append(options, s.tap.Attach)...)
}

// Transport returns the transport under [Server.Client], without a Tap. Use it
// for a client with another configuration.
func (s *Server) Transport() http.RoundTripper { return wire.Transport{Engine: s.engine} }

// Handler answers HTTP requests, for SDKs of other languages.
func (s *Server) Handler() http.Handler { return wire.Handler(s.engine) }

// ExpireTTL deletes the items that have expired on the server's clock, and returns
// their number. Like DynamoDB, ExpireTTL does not delete an item that expired more
// than five years ago. DynamoDB deletes an expired item at some time within a few
// days. Until an expired item is deleted, reads return it and conditions see it.
// The server answers requests while ExpireTTL runs. ExpireTTL skips the items
// that these requests write; the next call looks at them.
func (s *Server) ExpireTTL() int { return s.engine.ExpireTTL() }

// Tables returns the names of the tables, sorted.
func (s *Server) Tables() []string { return s.engine.Tables() }
