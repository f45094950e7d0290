// Package demo runs quill on made-up webhooks. It sends them over HTTP, imitates
// DynamoDB and Power BI, and reports the outcome beside what is right.
//
//	stream/       makes the webhooks, and knows what is right
//	bundled.go    has those that are part of the program
//	sender.go     sends them as Aloware and HubSpot do
//	service.go    is quill as it is deployed, except its clock
//	life.go       ends a process at a request
//	replay.go     sends, posts, and makes things go wrong
//	stored.go     reads what is stored in the end
//	check.go      compares with what is right, knowledge.go compares contacts and deals
//	write.go      writes the report
package demo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/ledger"
)

// Options are the options of a replay.
type Options struct {
	Requests iter.Seq[stream.Request]

	// Endpoint is a DynamoDB without an account, such as dynamotest's, that has
	// neither of the tables. "" is one inside this process.
	Endpoint string
	Region   string // for prices and for Endpoint; defaults to us-west-2
	Prices   prices.File

	Log *slog.Logger // defaults to none
}

// between is how many events come between two turns of the poster.
const between = 150

// replay is a replay under way.
type replay struct {
	Options
	clock   *Clock
	db      database.DB      // for requests that are not quill's
	metered *dynamodb.Client // quill's
	tap     *dynamotest.Tap
	powerBI *powerbitest.Server
	place   Place
	service *Service
	sender  Sender
	report  *Report

	closer []func()
}

// Run replays the requests and returns a report. An error means that the replay
// itself failed: the report says whether all adds up.
func Run(ctx context.Context, o Options) (*Report, error) {
	r, err := start(ctx, o)
	if r != nil {
		defer r.close()
	}
	if err != nil {
		return nil, err
	}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	r.check()
	return r.report, nil
}

func start(ctx context.Context, o Options) (*replay, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Region == "" {
		o.Region = "us-west-2"
	}
	r := &replay{Options: o, clock: NewClock(stream.Start), report: newReport(o)}
	r.powerBI = powerbitest.New(powerbitest.Config{Now: r.clock.Now, VisibleAfter: 3 * time.Second})
	r.open()
	r.place = Place{Clock: r.clock, Client: r.metered, PowerBI: r.powerBI, URL: "https://powerbi.test", Log: o.Log}
	var err error
	if r.service, err = NewService(r.place, r.report.in, r.report.out); err != nil {
		return r, err
	}
	if err := r.refuseTables(ctx); err != nil {
		return r, err
	}
	if err := r.service.Create(ctx, r.db.Client, r.db.Embedded != nil); err != nil {
		return r, fmt.Errorf("creating tables: %w", err)
	}
	r.service.Handler.SideBySide = 1 // so that all runs have the same requests
	r.disturb()
	return r, r.listen()
}

// open connects to DynamoDB.
func (r *replay) open() {
	short := dynamotest.MaxBackoff(time.Millisecond)
	if r.tap = dynamotest.NewTap(); r.Endpoint == "" {
		r.db = database.Embedded(r.clock.Now, short)
		r.metered = r.db.Embedded.Client(short, r.tap.Attach)
	} else {
		settings := database.Settings{Endpoint: r.Endpoint, Region: r.Region}
		r.db = database.Endpoint(settings, short)
		r.metered = database.Endpoint(settings, short, r.tap.Attach).Client
	}
	r.report.Where = r.db.Where
}

// refuseTables refuses a DynamoDB that already has the tables, because their rows
// would count as this replay's.
func (r *replay) refuseTables(ctx context.Context) error {
	for _, name := range []string{LedgerTable, FactsTable} {
		_, err := r.db.Client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(name)})
		if _, absent := errors.AsType[*types.ResourceNotFoundException](err); absent {
			continue
		}
		if err == nil {
			err = errors.New("it exists already, and a replay would count its rows")
		}
		return fmt.Errorf("table %s: %w", name, err)
	}
	return nil
}

// listen serves the webhooks on this machine.
func (r *replay) listen() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: r.service.Handler, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	transport := &http.Transport{}
	r.sender = Sender{
		Secrets: Made, URL: "http://" + listener.Addr().String(), HTTP: &http.Client{Transport: transport},
		Now: r.clock.Now, Sleep: r.clock.Sleep,
	}
	r.closer = append(r.closer, func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-done
	})
	return nil
}

func (r *replay) close() {
	for _, f := range r.closer {
		f()
	}
	r.closer = nil
}

// all sends some requests, lets the poster post them, and so on. It keeps nothing
// that grows with the requests.
func (r *replay) all(ctx context.Context) error {
	next, stop := iter.Pull(r.Requests)
	defer stop()
	for more := true; more; {
		var err error
		r.report.Intake.add(r.tap.Meter(func() { more, err = r.some(ctx, next) }))
		if err != nil {
			return err
		}
		r.report.Posting.add(r.tap.Meter(func() { err = r.turn(ctx) }))
		if err != nil {
			return fmt.Errorf("posting: %w", err)
		}
	}
	return nil
}

// some sends requests of as many events as come between two turns, and reports whether
// there may be more.
func (r *replay) some(ctx context.Context, next func() (stream.Request, bool)) (more bool, err error) {
	for events := 0; events < between && err == nil; {
		var request stream.Request
		if request, more = next(); !more {
			break
		}
		events += request.Want.Received
		r.clock.Until(request.At)
		if err = r.older(ctx, request); err != nil {
			break
		}
		var answer Answer
		var tries int
		answer, tries, err = r.sender.Send(ctx, request)
		r.report.sent(request, answer, tries)
	}
	return more, errors.Join(err, ctx.Err())
}

// older writes the rows of the pipeline before quill, as that pipeline wrote
// them.
func (r *replay) older(ctx context.Context, request stream.Request) error {
	for _, old := range request.Old {
		r.report.OldRows++
		if err := WriteOld(ctx, r.db.Client, old, request.At); err != nil {
			return err
		}
	}
	return nil
}

// WriteOld writes a row of the pipeline before quill.
func WriteOld(ctx context.Context, db *dynamodb.Client, old stream.OldRow, at time.Time) error {
	expires := stream.Cutover.AddDate(0, 0, 13)
	if old.Expired {
		expires = at.Add(-time.Minute)
	}
	_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(LedgerTable),
		Item: map[string]types.AttributeValue{
			"pk":        &types.AttributeValueMemberS{Value: old.Key},
			"seenAt":    &types.AttributeValueMemberS{Value: stream.Cutover.Add(-time.Hour).Format(time.RFC3339)},
			"expiresAt": &types.AttributeValueMemberN{Value: strconv.FormatInt(expires.Unix(), 10)},
			"source":    &types.AttributeValueMemberS{Value: "pipeline"},
		},
	})
	return err
}

// turn lets the poster post all that is pending. A poster that ends on the way is
// replaced, and its successor waits for the lease.
func (r *replay) turn(ctx context.Context) error {
	life := NewLife(ctx, 0, false)
	poster := r.service.Poster
	r.report.Turns++
	if r.report.Turns == crashTurn {
		life = NewLife(ctx, crashAt, true)
		place := r.place
		place.PowerBI = Transport{life, Direct{r.powerBI}}
		dying, err := NewService(place, nil, r.report.out)
		if err != nil {
			return err
		}
		poster = dying.Poster
	}
	for {
		err := poster.Drain(life.Context())
		if life.Over() && ctx.Err() == nil {
			r.report.Ended++
			life, poster = NewLife(ctx, 0, false), r.service.Poster
			continue
		}
		busy, held := errors.AsType[*ledger.InProgressError](err)
		if !held {
			return err
		}
		if err := r.clock.Sleep(ctx, max(busy.Wait, time.Second)); err != nil {
			return err
		}
	}
}

// This goes wrong: a poster ends in its second turn,
// after the post of the facts and before its answer.
const (
	crashTurn = 2
	crashAt   = 7 // after the login, the posts of calls, contacts and deals, and a question
)

// disturb loses and refuses some requests.
func (r *replay) disturb() {
	r.powerBI.OnPost(5, powerbitest.LoseReply) // of facts
	r.powerBI.OnPost(7, powerbitest.Unavailable)
	r.powerBI.OnPost(15, powerbitest.UnavailableAfter)
	r.powerBI.OnPost(17, powerbitest.LoseRequest)
	r.powerBI.Unauthorized(1)
	for _, f := range []dynamotest.Fault{
		{Do: dynamotest.LoseReply, Op: "TransactWriteItems", Nth: 20},
		{Do: dynamotest.LoseRequest, Op: "TransactWriteItems", Nth: 40},
		{Do: dynamotest.Throttle, Op: "TransactWriteItems", Nth: 60},
		{Do: dynamotest.Conflict, Op: "TransactWriteItems", Nth: 80},
		{Do: dynamotest.LoseReply, Op: "UpdateItem", Table: FactsTable, Nth: 30},
		{Do: dynamotest.LoseReply, Op: "PutItem", Table: FactsTable, Nth: 3},
	} {
		if r.db.Embedded != nil {
			r.db.Embedded.Tap().Inject(f)
		} else if f.Do == dynamotest.LoseReply || f.Do == dynamotest.LoseRequest { // DynamoDB answers the other faults
			r.tap.Inject(f)
		}
	}
}
