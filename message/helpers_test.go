package message_test

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

const (
	chat = "-100123"
	anna = "42"
	bo   = "43"
	cia  = "44"
)

var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// env is a store on a table of its own, without TTL.
type env struct {
	*message.Store
	db    *dynamotest.DB
	table string
	now   time.Time
}

func open(t testing.TB, cfg message.Config) *env {
	t.Helper()
	e := &env{db: dynamotest.Open(t, pricetest.Watch), now: noon}
	e.table = e.db.Name("messages")
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return e.now }
	}
	var err error
	if e.Store, err = message.New(recordtest.Impatient(e.db.Client()), e.table, &cfg); err != nil {
		t.Fatal(err)
	}
	recordtest.Create(t, e.db.Client(), e.Table())
	return e
}

// said is a message of the chat, so many seconds before noon.
func said(seq int64, actor string, before float64) message.Message {
	return message.Message{
		Scope: chat, Seq: seq, Actor: actor, Text: fmt.Sprint("message ", seq),
		At: noon.Add(-time.Duration(before * float64(time.Second))),
	}
}

func (e *env) save(t testing.TB, messages ...message.Message) {
	t.Helper()
	for _, m := range messages {
		if out, err := e.Save(t.Context(), m); err != nil || out != event.Created {
			t.Fatalf("Save of %d = %v, %v", m.Seq, out, err)
		}
	}
}

// saveMany saves so many messages of one actor, a second apart, the last at
// noon.
func (e *env) saveMany(t testing.TB, n int64) {
	t.Helper()
	for seq := int64(1); seq <= n; seq++ {
		e.save(t, said(seq, anna, float64(n-seq)))
	}
}

// seqs drains the messages and returns their sequences.
func seqs(t testing.TB, messages iter.Seq2[message.Message, error]) []int64 {
	t.Helper()
	var got []int64
	for m, err := range messages {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.Seq)
	}
	return got
}

// refused returns the error of a walk that yields nothing else.
func refused(t testing.TB, messages iter.Seq2[message.Message, error]) (failed error) {
	t.Helper()
	n := 0
	for m, err := range messages {
		if n++; n > 1 || err == nil || m.Seq != 0 {
			t.Errorf("[%d] %v came with %v", n, m, err)
		}
		failed = err
	}
	return failed
}

func seqsOf(messages []message.Message) []int64 {
	var got []int64
	for _, m := range messages {
		got = append(got, m.Seq)
	}
	return got
}
