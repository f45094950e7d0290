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

// Config of a server. The zero Config works.
type Config struct {
	// Now is the server's clock: TTL, idempotency tokens, creation times. The SDK
	// cannot read the times of answers before 1678 and after 2262. Defaults to
	// time.Now.
	Now func() time.Time

	// Latency is how long each request takes. Inside a synctest bubble the
	// time is virtual, so that dependent round trips can be counted. Defaults
	// to none.
	Latency time.Duration

	// MaxBackoff is the longest that clients of the server wait before they send
	// a request again, as often as ever: with a millisecond a test of lost
	// replies takes no second. Defaults to the SDK's, up to two seconds before the
	// second attempt and up to four before the third; inside a synctest bubble that
	// costs nothing. [MaxBackoff] is an option for other clients.
	MaxBackoff time.Duration

	// PartitionLimits is what one partition can take in a second of the server's
	// clock, see [Server.Heat]. A partition has at most one second's worth to give,
	// however long it was idle, and gets it back evenly: at one instant it takes
	// that, and within a second up to twice as much, what it had and what came
	// back. A request is let through while anything is left and may overdraw it;
	// the next one waits for the debt. What AWS lends beyond that, for up to five
	// minutes, is not promised there and left out.
	//
	// What is refused is refused with ProvisionedThroughputExceededException, or
	// with ThrottlingException where the table is on demand. In a batch it is left
	// unprocessed, or the batch is refused with that error when nothing gets
	// through, and a transaction is cancelled.
	//
	// DynamoDB's limits are [Limits]; infinite ones throttle nothing and draw the
	// heat map all the same. With one of the two alone, the other is not limited.
	// Defaults to no limits.
	PartitionLimits Units

	// ProvisionedLimits holds tables in provisioned mode to their
	// ProvisionedThroughput, on the server's clock. A global index has throughput of
	// its own: a write that it has nothing left for is refused, and the reasons name
	// the index; a local one takes from its table's. What is not used is kept for
	// bursts, up to 300 seconds' worth, as AWS says of its own; a new table begins
	// with a second's. What a request may take, and how it is refused, are as with
	// PartitionLimits, which hold besides if they are set. UpdateTable takes effect at
	// once: what was kept stays, as far as the new figures hold it, and goes when the
	// table goes on demand.
	//
	// There is no adaptive capacity to need, for a table's partitions share all that
	// it has; nor auto scaling; nor is burst capacity ever spent on maintenance, as on
	// AWS, which promises none. OnDemandThroughput, warm throughput and the quotas of
	// an account limit nothing. Defaults to false.
	ProvisionedLimits bool

	// IndexLag is how far global indexes are behind their tables, and ReadLag
	// how far eventually consistent reads of a table and of its local indexes
	// are, on the server's clock. A new index shows at first what its table held
	// when it was made. What is seen goes back only when that clock does. See also
	// [Server.HoldIndex]. Default to nothing: what DynamoDB mostly shows.
	IndexLag, ReadLag time.Duration

	// TTLDelay is how long [Server.ExpireTTL] leaves items that have expired.
	// Defaults to nothing.
	TTLDelay time.Duration

	// From is what the server holds at first; not with [OpenServer], whose file
	// [Server.Load] seeds. Defaults to nothing.
	From *Snapshot
}

// Server is a DynamoDB in this process. It needs no closing, and is safe for
// concurrent use.
type Server struct {
	tap    *Tap
	cfg    Config
	engine *engine.Engine
	file   string // with the data, if there is one
}

// NewServer returns an empty server. A nil Config works.
func NewServer(cfg *Config) *Server {
	if cfg == nil {
		cfg = &Config{}
	}
	eng := engine.New(engine.Options{
		Now:      cfg.Now,
		IndexLag: cfg.IndexLag, ReadLag: cfg.ReadLag, TTLDelay: cfg.TTLDelay,
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

// Tap returns the server's Tap, which all its clients have.
func (s *Server) Tap() *Tap { return s.tap }

// Inject is [Tap.Inject] of the server's Tap.
func (s *Server) Inject(f Fault) { s.tap.Inject(f) }

// Heal is [Tap.Heal] of the server's Tap.
func (s *Server) Heal() (idle []string) { return s.tap.Heal() }

// Meter is [Tap.Meter] of the server's Tap.
func (s *Server) Meter(f func()) Cost { return s.tap.Meter(f) }

// Attach is [Tap.Attach] of the server's Tap.
func (s *Server) Attach(o *dynamodb.Options) { s.tap.Attach(o) }

// Wrap is [Tap.Wrap] of the server's Tap.
func (s *Server) Wrap(next dynamodb.HTTPClient) dynamodb.HTTPClient { return s.tap.Wrap(next) }

// Client returns a client of the server: the SDK's own, over a transport that
// answers on the caller's goroutine, with the server's Tap attached. It looks for
// no endpoint and signs nothing: that is for networks. Options follow the defaults
// and come before the Tap, so an HTTPClient that one of them wraps sees no fault:
// wrap [Server.HTTPClient] for that, in a client of its own.
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

// HTTPClient returns what carries the requests of [Server.Client], with the
// server's Tap, for clients of other kinds, such as one of DynamoDB Streams. It
// takes any address for the server's.
func (s *Server) HTTPClient() dynamodb.HTTPClient { return s.tap.Wrap(direct{s.Transport()}) }

// Transport returns the transport under [Server.Client], for a client that is
// configured otherwise. No Tap is attached to it.
func (s *Server) Transport() http.RoundTripper { return wire.Transport{Engine: s.engine} }

// Handler answers HTTP requests, for SDKs of other languages.
func (s *Server) Handler() http.Handler { return wire.Handler(s.engine) }

// ExpireTTL deletes what has expired on the server's clock, as DynamoDB does
// at some time within two days, and returns how many items that were. Until
// then expired items can be read, and stand in the way of conditions. Requests are
// answered meanwhile; what they write is looked at by the next call.
func (s *Server) ExpireTTL() int { return s.engine.ExpireTTL() }

// Tables returns the names of the tables, sorted.
func (s *Server) Tables() []string { return s.engine.Tables() }
