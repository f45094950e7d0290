package demo

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/post"
)

// Report is the outcome of a replay.
type Report struct {
	Where, Region string
	Prices        prices.File

	Last     time.Time // when the last request came
	Requests int
	Again    int // requests that were sent again
	Forged   int
	OldRows  int
	Want     stream.Want // without its lists

	Events intake.Counts
	Facts  post.Counts
	Turns  int
	Ended  int // posters that ended on the way

	Stored  Stored
	Intake  Cost
	Posting Cost

	Wrong    []string // the first things that do not add up
	WrongAll int

	in    *intake.Tally
	out   *post.Tally
	facts digest
	known Knowledge
}

func newReport(o Options) *Report {
	return &Report{
		Region: o.Region, Prices: o.Prices,
		in: &intake.Tally{}, out: &post.Tally{}, known: Knowledge{},
	}
}

// OK reports whether all adds up.
func (r *Report) OK() bool { return r.WrongAll == 0 }

// Cost is the cost of spans of requests to DynamoDB.
type Cost struct {
	Requests int
	dynamotest.Units
}

func (c *Cost) add(span dynamotest.Cost) {
	c.Requests += span.Requests
	c.RCU += span.RCU
	c.WCU += span.WCU
}
