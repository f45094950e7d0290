// Package ledgersqs works on the messages of an Amazon SQS queue, each once for any
// number of deliveries: in a process of your own by [Run], or behind an event source
// mapping of Lambda by [Lambda]. [Once] is work under package ledger, and package verdict
// decides what becomes of a message:
//
//	key := func(m ledgersqs.Message) (string, error) { return ledger.Key("ORDER", m.Attributes["id"].String) }
//	ship := ledgersqs.Once(seen, key, func(ctx context.Context, m ledgersqs.Message, c *ledger.Claim) error {
//		return book(ctx, m.Body, c.Fence)
//	})
//	cfg := &ledgersqs.Config{Refused: keepForPeople}
//	err := ledgersqs.Run(ctx, sqs.NewFromConfig(aws), url, ship, cfg)
//	…
//	handle, err := ledgersqs.Lambda(ship, cfg) // in place of Run
//	lambda.Start(handle)
//
// # What becomes of a message
//
//	Done     deleted. The work is done, or its error is an answer, as counter.ErrFull
//	Poison   given to Config.Refused, and deleted when that returns nil: bad input, a
//	         permanent error, too many attempts and the like. If it returns an error,
//	         the message stays, and the queue moves it to its dead-letter queue in the
//	         end
//	Retry    stays, and comes again when its visibility ends, or after the Wait of a
//	         *ledger.InProgressError
//
// In a FIFO queue, a message that stays keeps its group in order: later messages of the
// group that were received with it are not begun, and stay as well. These receives
// count, too: give such a queue a greater maxReceiveCount, or receive one message at a
// time.
//
// # Time
//
// A message has until the function's deadline, or Config.Timeout under Run. The
// handler's context ends 2 seconds before that, so that a failure can be written down and
// reported. The lease of [Once] is Config.Lease or, if that is shorter, 1 second less than
// what is left: a function that is killed does not block its key for long. A message that
// comes when less than 2 seconds are left is not begun.
//
// The queue's visibility timeout must be longer than the time of all messages that are
// received together; AWS recommends six times the function's.
//
// # What it needs
//
// A standard or FIFO queue with a dead-letter queue. The ledger counts the attempts of a key,
// and SQS the receives of a message: MaxAttempts must be above maxReceiveCount times the
// messages of a key, or an outage of an hour sends good orders to Config.Refused.
// Lambda needs an event source mapping with ReportBatchItemFailures; without it, a message
// that stays is lost. IAM: sqs:ReceiveMessage, sqs:DeleteMessage and
// sqs:ChangeMessageVisibility for Run; for Lambda, what the mapping needs, and with
// Config.Client sqs:ChangeMessageVisibility. The events of Lambda are small types of this
// package, with the same JSON, so it does not need aws-lambda-go.
//
// A handler that panics is not recovered: it is a crash. The message comes again when its
// visibility ends, and the ledger's key is free when the lease and the skew budget are over.
package ledgersqs
