// Package dynamotest is a DynamoDB-compatible server inside the test process:
// no Docker, no Java, no socket.
//
//	func TestLimits(t *testing.T) {
//		db := dynamotest.Open(t) // in process, or DYNAMODB_ENDPOINT
//		limits, err := counter.New(db.Client(), db.Name("limits"), tzclock.Stockholm, nil)
//		db.Create(limits.Table())
//		…
//		cost := db.Meter(func() { limits.Take(ctx, take) })
//		cost.Want(t, dynamotest.Price{Requests: 1, WCU: 1})
//	}
//
// The client is a real *dynamodb.Client; requests and replies go through the
// SDK's own serialisation, middleware and retries, over a transport that calls
// the server on the caller's goroutine. Nothing is signed, for nobody would
// check. Nothing waits on a socket, so tests work inside testing/synctest
// bubbles.
//
// # Which constructor
//
//   - [Open] is for suites that shall also run on a real endpoint: with
//     DYNAMODB_ENDPOINT set it connects there, and [DB.Name] gives each test
//     tables of its own.
//   - [New] is for tests that need the server's own powers, such as its clock
//     and its TTL sweep: always in process.
//   - [Use] is for tests on an existing server: a fork of a seeded
//     one, or one with a data file. A fork with settings of its own, such as a
//     clock, is a New with [Config].From.
//   - [NewServer] needs no testing.T: examples, programs, other SDKs through
//     [Server.Handler]. scripts/clients drives it with the AWS CLI, boto3, the
//     JavaScript SDK and Java's.
//   - [NewTap] meters and disturbs any client of any endpoint.
//
// Over a socket, whoever listens there, the SDK for Go now and then finds its
// connection closed while it reads a reply of more than 4 KB. Its retries hide
// that; a client with a single attempt meets it, and stays better in process.
//
// # Meter
//
// [Tap.Meter] counts the requests of a span of calls and the capacity units
// they consumed, by table, index and operation. It sits in the client's
// transport, so it works on every backend. DynamoDB reports no capacity for a
// refused write; this server prices those too, from the size rules.
//
// # Faults
//
// [Tap.Inject] disturbs requests that it finds by operation, table, index, key,
// number or chance; chances follow from a seed, so that a run can be repeated,
// whatever order concurrent callers come in. PartiQL statements are found by
// what they name. Faults can be combined. A fault that never fired fails the test
// of its [DB], when it is healed or at the end, for it proved nothing. A bare [Server] or [Tap] has no test to fail:
// give the server to [Use], or look at what [Tap.Heal] returns.
//
//	Do                         where         the caller sees
//	LoseRequest                any backend   connection reset; nothing happened
//	LoseReply                  any backend   connection reset; it happened
//	Delay(d), DelayReply(d)    any backend   a slow call, or its context's end
//	Throttle                   this server   ThrottlingException, or as the billing mode has it
//	InternalError, Unavailable this server   500, 503; with After() it happened
//	Conflict                   this server   TransactionConflictException, or a cancelled transaction
//	Unprocessed                this server   entries of a batch come back
//
// An effect may be said more precisely:
//
//	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day"), Op: "PutItem"})
//	db.Inject(dynamotest.Fault{Do: dynamotest.Unavailable.After(), Table: "orders", Nth: 2})
//	db.Inject(dynamotest.Fault{Do: dynamotest.Unprocessed.Last(10), Op: "BatchWriteItem"})
//
// A batch of which some entries are throttled sends those back, too. In
// BatchExecuteStatement the last two and Throttle affect statements, each of which
// has an Error of its own in the reply.
//
// A fault that no request could meet is refused when it is injected. A table or a
// key attribute may be misspelt and nobody knows yet: the message about a fault
// that never fired lists the requests that passed, with their tables and indexes.
//
// Delays pass on the wall clock, or on that of a testing/synctest bubble; so do
// the SDK's waits before it sends a request again: up to two seconds for one that
// is lost once, and up to six in all for one that is lost twice. A bubble makes
// them instant. [Config].MaxBackoff and, with Open, [MaxBackoff] make them short.
// In a bubble use the context of the bubble's own T.
//
// A table on demand is throttled with ThrottlingException, a provisioned one with
// ProvisionedThroughputExceededException, as AWS's documents mostly have it;
// [Throttling.As] chooses: code that tells throttling from trouble should know both.
//
// # Streams
//
// The server has DynamoDB Streams at the same address. [DB.HTTPClient] makes the
// requests of a streams client metered and disturbed as all others are, in process
// and on an endpoint; [Server.HTTPClient] and [Tap.Wrap] do it without a test:
//
//	o := db.Client().Options()
//	streams := dynamodbstreams.New(dynamodbstreams.Options{
//		Region: o.Region, BaseEndpoint: o.BaseEndpoint, Credentials: o.Credentials, HTTPClient: db.HTTPClient(),
//		Retryer: o.Retryer, // with MaxBackoff
//	})
//	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "GetRecords", Table: "orders"})
//
// # Lag
//
// Everything is seen at once unless the test says otherwise: [Server.HoldIndex]
// freezes a global index and [Server.HoldReads] the eventually consistent reads
// of a table; [Config].IndexLag and ReadLag let them follow the clock at a
// distance and go back only when it does. Items expire when [Server.ExpireTTL] is
// called, [Config].TTLDelay after their time.
//
//	release, err := srv.HoldIndex("orders", "by-day") // what is written now, the index shows after release()
//	srv := dynamotest.NewServer(&dynamotest.Config{Now: clock.Now, IndexLag: time.Second})
//
// # State
//
// [Server.Snapshot], [Server.Restore] and [Server.Fork] cost microseconds,
// however many items there are: seed one server and fork it for each test, or
// begin a [DB] with [Config].From. [Server.Dump] and [Server.Load] are the same
// as JSON lines; [Server.LoadItems] reads items in the line form of DynamoDB's
// exports.
//
//	for _, c := range cases {
//		t.Run(c.name, func(t *testing.T) {
//			t.Parallel()
//			db := dynamotest.Use(t, seeded.Fork())
//			…
//		})
//	}
//
// [OpenServer] keeps the state in a file, as the command's -data does: what was
// acknowledged survives a kill.
//
//	srv, err := dynamotest.OpenServer("orders.data", nil)
//
// # Scale
//
// With [Config].PartitionLimits a hot partition is throttled as DynamoDB
// throttles it, on the server's clock: writes sharded over ten keys get ten
// times as far, and a global index on a status with three values holds its
// table back. [Server.Heat] shows where the load went:
//
//	srv := dynamotest.NewServer(&dynamotest.Config{Now: clock.Now, PartitionLimits: dynamotest.Limits})
//	…
//	fmt.Print(srv.Heat()) // the hottest partitions, each with a bar, its worst second and its limit
//
// With [Config].ProvisionedLimits a provisioned table, and each global index, gets no
// further than its throughput and what it has saved for bursts.
//
// # Strictness
//
// EMULATION.md beside this package lists the operations there are and where they
// differ from DynamoDB's.
//
// What DynamoDB rejects, the server rejects: overlapping paths, unused names,
// reserved words, empty keys, wrong key types, numbers over 38 digits, items
// over 400 KB, nesting over 32.
package dynamotest
