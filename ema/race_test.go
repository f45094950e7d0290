package ema_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// journal notes each write that took effect.
type journal struct {
	record.API
	mu     sync.Mutex // guards what follows
	writes []write
}

type write struct {
	version int64
	average float64
	ring    []byte
}

func (j *journal) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := j.API.UpdateItem(ctx, in, o...)
	if err == nil {
		var w write
		w.version, _ = item.Int(in.ExpressionAttributeValues, ":version")
		w.average, _ = item.Float(in.ExpressionAttributeValues, ":own0")
		w.ring, _ = item.Bytes(in.ExpressionAttributeValues, ":recent")
		j.mu.Lock()
		j.writes = append(j.writes, w)
		j.mu.Unlock()
	}
	return out, err
}

// replay checks that the writes are a history of one row in which each event
// stands once, and returns the average that the order of their arrival gives.
func (j *journal) replay(t *testing.T, values map[event.Event]float64) float64 {
	t.Helper()
	slices.SortFunc(j.writes, func(a, b write) int { return cmp.Compare(a.version, b.version) })
	seen := map[event.Event]bool{}
	average := 0.0
	for i, w := range j.writes {
		if w.version != int64(i+1) {
			t.Fatalf("write %d has the version %d", i+1, w.version)
		}
		arrived := 0
		for slot := range slices.Chunk(w.ring, event.Size) {
			ev := event.Event(slot)
			if seen[ev] {
				continue
			}
			seen[ev] = true
			arrived++
			if average = (average + values[ev]) / 2; i == 0 {
				average = values[ev]
			}
		}
		if arrived != 1 || w.average != average {
			t.Fatalf("write %d: %d events arrived, average %g, want 1 and %g", i+1, arrived, w.average, average)
		}
	}
	return average
}

// Many events of one average, each delivered three times, all at once: each
// counts once, and what is learned is what their order of arrival gives.
func TestContention(t *testing.T) {
	t.Parallel()
	const events, deliveries = 24, 3
	db, first := open(t)
	seen := &journal{API: db.Client()}
	store, err := ema.New(seen, first.Table().Name, &ema.Config{
		Alpha: 0.5, Now: recordtest.Clock(clock), ConsistentReads: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	values := map[event.Event]float64{}
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range events {
		o := effort(ago(t, i), float64(1+i*i))
		values[o.Event] = o.Value
		for range deliveries {
			all.Go(func() {
				<-start
				if _, err := store.Observe(t.Context(), o); err != nil {
					t.Error(err)
				}
			})
		}
	}
	close(start)
	all.Wait()
	want := ema.Average{Subject: "42", Metric: "diskning", Value: seen.replay(t, values), Samples: events, UpdatedAt: clock}
	if got := mustGet(t, store, "42", "diskning"); got != want {
		t.Errorf("average %+v, want %+v", got, want)
	}
}

// A lost reply counts once: the SDK sends again, meets its own write, and the
// answer is Duplicate, the state being that of one observation.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	for do, want := range map[dynamotest.Effect]event.Outcome{
		dynamotest.LoseReply:   event.Duplicate,
		dynamotest.LoseRequest: event.Created,
	} {
		t.Run(do.String(), func(t *testing.T) {
			t.Parallel()
			db, store := open(t)
			mustObserve(t, store, effort(ago(t, 1), 4), event.Created)
			db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem"})
			mustObserve(t, store, effort(ago(t, 0), 8), want)
			if got := mustGet(t, store, "42", "diskning"); got.Value != 6 || got.Samples != 2 {
				t.Errorf("%+v, want 6 of 2 samples", got)
			}
		})
	}
}

// A row that is erased, made anew by an older system and given the same event
// again has the version and the ring that it had, over other samples: a write
// computed from the erased row must not win.
func TestErasedAndMadeAnewByAnOlderSystem(t *testing.T) {
	t.Parallel()
	db, first := open(t)
	again := effort(ago(t, 2), 10)
	mustObserve(t, first, again, event.Created)
	db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.Before(func() {
		older := ddb.Item{"pk": item.S("EFFORT#42"), "sk": item.S("diskning"), "ema": item.N(30), "samples": item.N(7)}
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(first.Table().Name), Item: older}); err != nil {
			t.Fatal(err)
		}
		mustObserve(t, first, again, event.Created)
	})})
	store, err := ema.New(db.Client(), first.Table().Name, &ema.Config{Alpha: 0.5, Now: recordtest.Clock(clock)})
	if err != nil {
		t.Fatal(err)
	}
	mustObserve(t, store, effort(ago(t, 1), 40), event.Created)
	want := ema.Average{Subject: "42", Metric: "diskning", Value: 30, Samples: 9, UpdatedAt: clock} // 30, 20, 30
	if got := mustGet(t, first, "42", "diskning"); got != want {
		t.Errorf("average %+v, want %+v", got, want)
	}
}
