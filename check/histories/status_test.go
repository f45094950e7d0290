package histories_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// Reports of one row arrive in any order, each of them twice, while requests meet
// conflicts and replies are lost. In the end the row has what the last report gave,
// by time, rank and identity. If another report of that time and rank gave something
// else, a TieError was returned, unless the reply was lost that would have said so.
func TestStatus(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		client := dynamodb.New(db.Client().Options(), func(o *dynamodb.Options) {
			o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.RateLimiter = ratelimit.None })
		})
		rows, err := record.New(client, "orders", statusKind, &record.Config{Now: func() time.Time { return epoch }})
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Create(t.Context(), db.Client(), rows.Table()); err != nil {
			t.Fatal(err)
		}
		var sum statusSum
		for n := range uint64(*count) {
			sum.tell(t, db, rows, *first+n)
		}
		t.Logf("%d ties at the end, %d of them told by nobody, because a reply was lost", sum.ties, sum.lost)
		if sum.ties < *count/10 || sum.lost > sum.ties/3 {
			t.Error("too few ties, or too few of them are told")
		}
	})
}

// statusSum counts the rows that end in a tie, and those whose tie nobody was told.
type statusSum struct{ ties, lost int }

// tell makes one row. Its seed decides everything.
func (sum *statusSum) tell(t *testing.T, db *dynamotest.DB, rows *record.Rows[setRow], seed uint64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 24))
	pk := record.Key("ORDER", fmt.Sprint(seed))
	var arrivals []report
	for range 5 {
		s := reports[rnd.IntN(15)] // of two seconds, and of the second one not the greatest rank
		arrivals = append(arrivals, s, s)
	}
	rnd.Shuffle(len(arrivals), func(i, j int) { arrivals[i], arrivals[j] = arrivals[j], arrivals[i] })
	latest := slices.MaxFunc(arrivals, report.compare)
	told, silent := false, false // of the last moment: a tie, and a lost reply
	for _, s := range arrivals {
		effect := []dynamotest.Effect{nil, nil, dynamotest.LoseReply, dynamotest.Conflict}[rnd.IntN(4)]
		if effect != nil {
			db.Inject(dynamotest.Fault{Do: effect, Op: "UpdateItem"})
		}
		answer := answerOf(rows.Set(t.Context(), record.Set{Partition: pk, Sort: "status", Event: s.event(), Rank: s.rank, Values: s.values()}))
		if answer == nil {
			t.Errorf("seed %d: Set failed", seed)
		}
		if s.moment(latest) == 0 {
			_, tie := answer.(tied)
			told = told || tie
			silent = silent || effect == dynamotest.LoseReply && answer == any(duplicate{})
		}
	}
	out, err := db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("orders"), ConsistentRead: aws.Bool(true), Key: row{"pk": s(pk), "sk": s("status")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if left, exactly := stored(out.Item); left != latest || !exactly {
		t.Errorf("seed %d: %v ends in %s, want %v", seed, arrivals, text(out.Item), latest)
	}
	tie := slices.ContainsFunc(arrivals, func(s report) bool { return s.moment(latest) == 0 && !s.same(latest) })
	switch {
	case tie && !told && !silent, told && !tie:
		t.Errorf("seed %d: %v: a tie is %v, and told: %v", seed, arrivals, tie, told)
	case tie && !told:
		sum.lost++
	}
	if tie {
		sum.ties++
	}
}
