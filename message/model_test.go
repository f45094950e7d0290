package message_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/record"
)

// logged is a row as the model knows it.
type logged struct {
	message.Message
	seconds bool // an older system's, whose time is stored in seconds
	expired bool
}

// reading counts the rows that queries have read.
type reading struct {
	*dynamodb.Client
	rows int
}

func (r *reading) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := r.Client.Query(ctx, in, opts...)
	if err == nil {
		r.rows += int(out.ScannedCount)
	}
	return out, err
}

// anyRow makes a message some seconds after the one before, give or take.
func anyRow(r *rand.Rand, scope string, seq int64) (logged, ddb.Item) {
	pick := func(of ...any) any { return of[r.IntN(len(of))] }
	l := logged{Message: message.Message{
		Scope: scope, Seq: seq, Actor: pick(anna, bo, cia).(string), Text: "x",
		At: noon.Add(-time.Hour + time.Duration(10*seq+r.Int64N(20))*time.Second + time.Duration(r.IntN(3))*500*time.Millisecond),
	}}
	row := ddb.Item{"chatId": item.S(scope), "messageId": item.N(seq), "userId": item.Digits(l.Actor), "text": item.S("x")}
	data := ddb.Item{}
	if cents := pick(100, 500, 501, "500", nil); cents != nil {
		l.Data = map[string]any{"cents": cents, "to": pick("Lund", "Malmö")}
		data["to"] = item.S(l.Data["to"].(string))
		if n, ok := cents.(int); ok {
			l.Data["cents"] = attributevalue.Number(fmt.Sprint(n))
			data["cents"] = item.Digits(fmt.Sprintf("%d.0", n)) // as somebody else may write it
		} else {
			data["cents"] = item.S("500")
		}
		row["data"] = item.M(data)
	}
	stamp := l.At.UnixMilli()
	if l.seconds = r.IntN(4) == 0; l.seconds {
		l.At = l.At.Truncate(time.Second)
		stamp = l.At.Unix()
	}
	row["timestamp"] = item.N(stamp)
	if l.expired = r.IntN(5) == 0; l.expired {
		row["ttl"] = item.N(noon.Unix())
	}
	return l, row
}

// matches is what the doc of Match says.
func matches(m message.Match, l logged) bool {
	if m.Actor != "" && m.Actor != l.Actor {
		return false
	}
	for _, c := range m.Data {
		var sign int
		switch want := c.Value.(type) {
		case string:
			got, ok := l.Data[c.Name].(string)
			if !ok {
				return false
			}
			sign = cmpOf(got, want)
		case int:
			got, ok := l.Data[c.Name].(attributevalue.Number)
			if !ok {
				return false
			}
			n, _ := got.Int64()
			sign = cmpOf(n, int64(want))
		}
		if !map[string]bool{"": sign == 0, "=": sign == 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[c.Op] {
			return false
		}
	}
	return true
}

func cmpOf[T string | int64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// ask is one walk in words: of a scope, or of an actor.
type ask struct {
	actor    string    // "" is a walk of the scope
	from, to time.Time // of an actor
	message.Range
}

func anyAsk(r *rand.Rand) ask {
	a := ask{Range: message.Range{NewestFirst: r.IntN(2) == 0, Limit: r.IntN(6), ReadAtMost: []int{0, r.IntN(12), 17 + r.IntN(10)}[r.IntN(3)]}}
	if r.IntN(2) == 0 {
		a.Match.Data = append(a.Match.Data, record.Compare{Name: "cents", Op: []string{"", "=", "<", "<=", ">", ">="}[r.IntN(6)], Value: []any{500, 501, "500"}[r.IntN(3)]})
	}
	if r.IntN(3) == 0 {
		a.Match.Data = append(a.Match.Data, record.Compare{Name: "to", Value: "Lund"})
	}
	if r.IntN(2) == 0 {
		a.actor = anna
		moment := func() time.Time { return noon.Add(-time.Hour + time.Duration(r.IntN(1200))*500*time.Millisecond) }
		if r.IntN(3) == 0 {
			a.from = moment()
		}
		if r.IntN(3) == 0 {
			a.to = moment()
		}
		if !a.to.IsZero() && a.to.Before(a.from) {
			a.from, a.to = a.to, a.from
		}
		return a
	}
	if r.IntN(3) == 0 {
		a.Match.Actor = anna
	}
	if r.IntN(3) == 0 {
		a.FromSeq, a.ToSeq = r.Int64N(20), 20+r.Int64N(30)
	}
	if a.NewestFirst && r.IntN(2) == 0 {
		a.From = noon.Add(-time.Hour + time.Duration(r.IntN(400_000))*time.Millisecond)
	}
	return a
}

func (a ask) walk(ctx context.Context, s *message.Store, scope string) iter.Seq2[message.Message, error] {
	if a.actor == "" {
		return s.InScope(ctx, scope, a.Range)
	}
	return s.ByActor(ctx, a.actor, a.times())
}

func (a ask) times() message.Range {
	return message.Range{From: a.from, To: a.to, Match: a.Match, NewestFirst: a.NewestFirst, Limit: a.Limit, ReadAtMost: a.ReadAtMost, Cursor: a.Cursor, Next: a.Next}
}

// read is what a walk reads, in its order.
func (a ask) read(all []logged) []logged {
	rows := slices.DeleteFunc(slices.Clone(all), func(l logged) bool {
		late := !a.to.IsZero() && !l.seconds && !l.At.Before(a.to)
		early := !a.from.IsZero() && (l.seconds || l.At.Before(a.from))
		return a.actor != "" && (l.Actor != a.actor || early || late) || l.Seq < a.FromSeq || a.ToSeq > 0 && l.Seq > a.ToSeq
	})
	if a.actor != "" { // seconds before all milliseconds
		stamp := func(l logged) int64 {
			if l.seconds {
				return l.At.Unix()
			}
			return l.At.UnixMilli()
		}
		slices.SortFunc(rows, func(x, y logged) int { return cmpOf(stamp(x), stamp(y)) })
	}
	if a.NewestFirst {
		slices.Reverse(rows)
	}
	return rows
}

// answer is what the docs of the walks say; more reports that rows were left
// when as many were read as may be.
func (a ask) answer(rows []logged) (all []message.Message, more bool) {
	for i, l := range rows {
		if a.ReadAtMost > 0 && i == a.ReadAtMost {
			return all, true
		}
		if l.At.Before(a.From) {
			return all, false
		}
		if !l.expired && (a.to.IsZero() || l.At.Before(a.to)) && matches(a.Match, l) {
			all = append(all, l.Message)
		}
		if a.Limit > 0 && len(all) == a.Limit {
			return all, false
		}
	}
	return all, false
}

// Random rows of two writers and random questions: the answers are those of a
// plain model, whole and in parts, and read no more than they may.
func TestModel(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{ActorIndex: true, Retention: time.Hour * 24})
	api := &reading{Client: e.db.Client()}
	s, err := message.New(api, e.table, &message.Config{ActorIndex: true, Retention: time.Hour * 24, Now: recordtest.Clock(noon)})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 9))
		if _, err := s.EraseActor(t.Context(), anna); err != nil { // those of the seed before
			t.Fatal(err)
		}
		scope := fmt.Sprint("chat#", seed)
		var all []logged
		for seq := int64(1); seq < 50; seq += 1 + r.Int64N(3) {
			l, row := anyRow(r, scope, seq)
			recordtest.Put(t, e.db.Client(), e.table, row)
			all = append(all, l)
		}
		for range 60 {
			a := anyAsk(r)
			t.Run(fmt.Sprintf("%d %+v", seed, a), func(t *testing.T) { a.check(t, r, s, api, scope, all) })
		}
	}
}

func (a ask) check(t *testing.T, r *rand.Rand, s *message.Store, api *reading, scope string, all []logged) {
	rows := a.read(all)
	want, more := a.answer(rows)
	api.rows = 0
	var got []message.Message
	for m, err := range a.walk(t.Context(), s, scope) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m)
	}
	if diff := cmp.Diff(seqsOf(want), seqsOf(got)); diff != "" {
		t.Errorf("walk (-want +got):\n%s", diff)
	}
	if a.ReadAtMost > 0 && (api.rows > a.ReadAtMost || more && api.rows < a.ReadAtMost) {
		t.Errorf("%d rows were read, of at most %d", api.rows, a.ReadAtMost)
	}
	for i := range got {
		if diff := cmp.Diff(want[i].Data, got[i].Data); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
	}
	whole := a
	whole.Limit, whole.ReadAtMost = 0, 0
	want, _ = whole.answer(rows)
	if diff := cmp.Diff(seqsOf(want), seqsOf(a.parts(t, r, s, api, scope))); diff != "" {
		t.Errorf("in parts (-want +got):\n%s", diff)
	}
}

// parts reads the answer in parts that end at any Limit or ReadAtMost, or are
// left at any message.
func (a ask) parts(t *testing.T, r *rand.Rand, s *message.Store, api *reading, scope string) (got []message.Message) {
	t.Helper()
	a.Next = &a.Cursor
	for more := true; more; more = a.Cursor != "" {
		a.Limit, a.ReadAtMost = r.IntN(6), r.IntN(2)*(1+r.IntN(12))
		leave, n := 1+r.IntN(9), 0
		api.rows = 0
		for m, err := range a.walk(t.Context(), s, scope) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m)
			if n++; n == leave {
				break
			}
		}
		if a.ReadAtMost > 0 && api.rows > a.ReadAtMost || a.Limit > 0 && n > a.Limit {
			t.Errorf("a part of %d messages read %d rows", n, api.rows)
		}
		if a.ReadAtMost == 0 && a.Limit > 0 && n < min(leave, a.Limit) && a.Cursor != "" {
			t.Errorf("a part of %d has %d, and goes on", a.Limit, n)
		}
	}
	return got
}
