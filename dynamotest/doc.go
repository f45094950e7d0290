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
// The client is a real *dynamodb.Client: requests and replies go through the
// SDK's own serialisation, middleware and retries. Its transport calls the
// server on the caller's goroutine. Requests are not signed, because the server
// would not check the signature. Nothing waits on a socket, so tests work
// inside testing/synctest bubbles.
//
// # Which constructor
//
//   - [Open] is for suites that also run on a real endpoint. If
//     DYNAMODB_ENDPOINT is set, Open connects to that endpoint, and [DB.Name]
//     gives each test tables of its own.
//   - [New] always makes a server in process. It is for tests that control this
//     server, for example its clock and its TTL sweep.
//   - [Use] is for tests on an existing server: a fork of a seeded server, or a
//     server with a data file. For a fork with other settings, such as another
//     clock, use New with [Config].From.
//   - [NewServer] needs no testing.T. It is for examples, for programs, and for
//     SDKs of other languages through [Server.Handler]. scripts/clients tests
//     the handler with the AWS CLI, boto3, the JavaScript SDK and the Java SDK.
//   - [NewTap] returns a [Tap], which meters and disturbs the requests of any
//     client of any endpoint.
//
// Over a socket, with any server, the SDK for Go now and then finds its
// connection closed while it reads a reply of more than 4 KB. The SDK's retries
// hide this error. A client with a single attempt returns the error, so such a
// client should stay in process.
//
// # Meter
//
// [Tap.Meter] counts the requests of a span of calls, by operation and by
// table. It also adds up the capacity units that these requests consumed, by
// table and by index. The meter sits in the client's transport, so it works on
// every backend. DynamoDB reports no capacity for a refused write. This server
// computes the price of a refused write from DynamoDB's size rules.
//
// # Faults
//
// [Tap.Inject] disturbs requests that it selects by operation, table, index, key,
// number or chance. A seed determines the outcome of every chance, so a second run
// meets the same faults. The order of concurrent requests does not matter if they
// name different items and the fault has no Nth or Times. [Fault].Chance names the
// exceptions. PartiQL statements are selected by the table, index and key that
// they name. Faults can be combined. A fault that never fired proved nothing, so
// it fails the test of its [DB], at [DB.Heal] or at the end of the test. A
// [Server] or [Tap] without a DB has no test to fail: give the server to [Use], or
// check the result of [Tap.Heal].
//
//	Do                         where         the caller sees
//	LoseRequest                any backend   connection reset; nothing happened
//	LoseReply                  any backend   connection reset; it happened
//	Delay(d), DelayReply(d)    any backend   a slow call, or its context's end
//	Before(f), After(f)        any backend   what f did meanwhile; f may hold the call
//	Answer(status, body)       any backend   this answer; nothing happened
//	Throttle                   this server   the throttling error of the table's billing mode
//	InternalError, Unavailable this server   500, 503; with After() it happened
//	Conflict                   this server   TransactionConflictException, or a cancelled transaction
//	Unprocessed                this server   entries of a batch come back
//
// Some effects have options:
//
//	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day"), Op: "PutItem"})
//	db.Inject(dynamotest.Fault{Do: dynamotest.Unavailable.After(), Table: "orders", Nth: 2})
//	db.Inject(dynamotest.Fault{Do: dynamotest.Unprocessed.Last(10), Op: "BatchWriteItem"})
//
// If Throttle meets only some entries of a batch, these entries come back
// unprocessed. In BatchExecuteStatement, Throttle, Conflict and Unprocessed
// affect single statements: each of these statements has an Error of its own in
// the reply.
//
// A fault that no request could meet is refused when it is injected. A misspelt
// table, index or key attribute cannot be detected at that time. On another
// backend, a misspelt operation cannot be detected either. So the message about
// a fault that never fired lists the requests that passed, with their tables and
// indexes.
//
// Delays pass on the wall clock, or on the clock of a testing/synctest bubble.
// The SDK's waits before it sends a request again pass on the same clock: up to
// two seconds if a request is lost once, and up to six seconds in all if it is
// lost twice. In a bubble, delays and waits take no real time. Outside of a
// bubble, shorten the waits: set [Config].MaxBackoff, or give Open the option
// [MaxBackoff]. In a bubble, use the context of the T that synctest.Test passes
// to its function.
//
// A throttled table answers with ThrottlingException if it is on demand, and with
// ProvisionedThroughputExceededException if it is provisioned. [Throttling.As]
// chooses the other error. Code that treats throttling differently from other
// errors should know both errors.
//
// # Streams
//
// The server also serves DynamoDB Streams, at the same address as DynamoDB.
// With the HTTP client of [DB.Client] or [Server.Client], the requests of a
// streams client are metered and disturbed like all others:
//
//	o := db.Client().Options()
//	streams := dynamodbstreams.New(dynamodbstreams.Options{
//		Region: o.Region, BaseEndpoint: o.BaseEndpoint, Credentials: o.Credentials, HTTPClient: o.HTTPClient,
//		Retryer: o.Retryer, // with MaxBackoff
//	})
//	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "GetRecords", Table: "orders"})
//
// # Lag
//
// Every read sees every earlier write, unless the test says otherwise.
// [Server.HoldIndex] freezes a global index, and [Server.HoldReads] freezes the
// eventually consistent reads of a table. With an IndexLag of one second in the
// [Config], a global index shows the table as it was a second ago; ReadLag does
// the same for eventually consistent reads. Indexes and reads go back to an
// older state only if the clock goes back. [Server.ExpireTTL] deletes the items
// that have expired.
//
//	release, err := srv.HoldIndex("orders", "by-day") // what is written now, the index shows after release()
//	srv := dynamotest.NewServer(&dynamotest.Config{Now: clock.Now, IndexLag: time.Second})
//
// # State
//
// [Server.Snapshot], [Server.Restore] and [Server.Fork] cost microseconds for
// each table, for any number of items: seed one server and fork it for each
// test, or call [New] with [Config].From. [Server.Dump] writes the tables and
// items as JSON lines, and [Server.Load] reads them. [Server.LoadItems] reads
// items in the line form of DynamoDB's exports.
//
//	for _, c := range cases {
//		t.Run(c.name, func(t *testing.T) {
//			t.Parallel()
//			db := dynamotest.Use(t, seeded.Fork())
//			…
//		})
//	}
//
// [OpenServer] keeps the state in a file, like the flag -data of the command
// dynamotest. Acknowledged writes survive even if the process is killed.
//
//	srv, err := dynamotest.OpenServer("orders.data", nil)
//
// # Scale
//
// With [Config].PartitionLimits, a hot partition is throttled, on the server's
// clock. If the writes to one partition key are spread over ten keys, ten times
// as many get through. If a table has a global index on a status with three
// values, the three partitions of the index limit the writes to the table.
// [Server.Heat] shows where the load went:
//
//	srv := dynamotest.NewServer(&dynamotest.Config{Now: clock.Now, PartitionLimits: dynamotest.Units{RCU: 3000, WCU: 1000}})
//	…
//	hottest := srv.Heat()[0] // its table, key, units, worst second, and how often it was throttled
//
// With [Config].ProvisionedLimits, a provisioned table is throttled when it
// exceeds its throughput and the burst capacity that it has saved. The same
// holds for each of its global indexes.
//
// # Strictness
//
// EMULATION.md, in the directory of this package, lists the operations of the
// server, and says how they differ from DynamoDB's operations.
//
// The server rejects what DynamoDB rejects: overlapping paths, expression
// attribute names that no expression uses, reserved words, empty keys, wrong
// key types, numbers with more than 38 digits, items over 400 KB, and nesting
// of more than 32 levels.
package dynamotest
