package engine

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/latch"
	"github.com/homeops/ddbpatterns/dynamotest/internal/stream"
	"github.com/homeops/ddbpatterns/dynamotest/internal/throughput"
)

// Options configure an Engine. The zero value works.
type Options struct {
	// Now is the clock for expiry, transaction tokens and creation times.
	// Defaults to time.Now.
	Now func() time.Time

	// Hook is called for every call. May be nil.
	Hook Hook

	// Region and Account are parts of the ARNs of tables. They default to
	// "us-east-1" and "123456789012".
	Region, Account string

	// IndexLag is how far global indexes are behind, and ReadLag is how far
	// eventually consistent reads are behind.
	IndexLag, ReadLag time.Duration

	// Partition is the capacity of one partition for a second; 0 means no limit.
	// Provisioned also limits tables and indexes to their throughput.
	Partition   capacity.Units
	Provisioned bool

	// The disk of data files, and their least growth before they are compacted.
	// Tests set them.
	Disk        journal.Disk
	CompactFrom int64

	// Log gets reports of what should never happen. Defaults to slog.Default().
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Account = cmp.Or(o.Account, "123456789012")
	o.Log = cmp.Or(o.Log, slog.Default())
	return o
}

// An Engine is a separate DynamoDB, empty at first. It is safe for concurrent
// use.
type Engine struct {
	opt  Options
	hook atomic.Pointer[Hook]

	journal *journal.Journal // nil in memory; set before the first request

	throughput *throughput.Limits // nil without limits

	writing sync.Mutex // held while a long reply is written

	latches latch.Set // held before mu is taken

	mu sync.RWMutex // guards what follows, and every table
	state
}

// New returns an empty Engine.
func New(opt Options) *Engine {
	e := &Engine{opt: opt.withDefaults(), state: state{tables: map[string]*table{}, streams: stream.Set{}}}
	e.throughput = throughput.New(opt.Partition, opt.Provisioned, e.now)
	e.SetHook(opt.Hook)
	return e
}

// SetHook replaces the hook. A nil hook costs nothing.
func (e *Engine) SetHook(hook Hook) {
	if hook == nil {
		e.hook.Store(nil)
		return
	}
	e.hook.Store(&hook)
}

// A reply writes its members. It is nil without any.
type reply = func(w *api.Writer)

// Loads lists the partitions that had requests, the busiest first, including
// those of deleted tables and indexes.
func (e *Engine) Loads() []throughput.Load { return e.throughput.Loads() }

// Tables lists the names of the tables, sorted.
func (e *Engine) Tables() []string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.names()
}

// now returns the time of the engine's clock.
func (e *Engine) now() time.Time { return e.opt.Now() }

// at returns the time at which a call takes effect.
func (e *Engine) at(call *Call) time.Time {
	if call.past {
		return call.At
	}
	return e.now()
}

var errNoTable = api.OfWhole(&api.Error{Code: api.ResourceNotFound, Message: "Requested resource not found"})

// tableNamed returns a table for an operation on items.
func (e *Engine) tableNamed(name string) (*table, *api.Error) {
	if t := e.tables[api.TableNameOf(name)]; t != nil {
		return t, nil
	}
	return nil, errNoTable
}

// wholeTable returns a table for an operation on the table itself. Its error
// names the table.
func (e *Engine) wholeTable(name string) (*table, *api.Error) {
	name = api.TableNameOf(name)
	if t := e.tables[name]; t != nil {
		return t, nil
	}
	return nil, &api.Error{Code: api.ResourceNotFound, Message: "Requested resource not found: Table: " + name + " not found"}
}

// KeyParts returns the attributes of a table's key, the hash part first, or nil
// if the table does not exist.
func (e *Engine) KeyParts(table string) []keys.Part {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t := e.tables[api.TableNameOf(table)]
	if t == nil {
		return nil
	}
	return t.key.Parts()
}

// keyNames returns the names of the attributes.
func (e *Engine) keyNames(table string) []string {
	parts := e.KeyParts(table)
	if parts == nil {
		return nil
	}
	return keys.Names(parts)
}

func (e *Engine) tableARN(name string) string {
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", e.opt.Region, e.opt.Account, name)
}
