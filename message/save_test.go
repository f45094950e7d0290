package message_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

func TestSaveAndGet(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	for name, m := range map[string]message.Message{
		"all": {
			Scope: chat, Seq: 4711, Actor: "-42", ActorName: "Åsa", Text: "diskat 🍽️", Raw: `{"update_id": 1}`,
			At: noon.Add(-1234 * time.Millisecond),
		},
		"largest sequence":  {Scope: chat, Seq: 1<<63 - 1, At: noon},
		"an hour ahead":     {Scope: chat, Seq: 2, At: noon.Add(time.Hour)},
		"38 digits":         {Scope: chat, Seq: 3, Actor: strings.Repeat("9", 38), At: noon},
		"text of 390 KB":    {Scope: chat, Seq: 4, Text: strings.Repeat("å", 195*1024), At: noon},
		"long ago":          {Scope: chat, Seq: 5, At: time.UnixMilli(100_000_000_000).UTC()},
		"finer than stored": {Scope: chat, Seq: 6, At: noon.Add(-time.Millisecond)},
	} {
		given := m
		if name == "finer than stored" {
			given.At = given.At.Add(999 * time.Microsecond)
		}
		if out, err := e.Save(t.Context(), given); err != nil || out != event.Created {
			t.Errorf("%s: Save = %v, %v", name, out, err)
		}
		got, ok, err := e.Get(t.Context(), m.Scope, m.Seq)
		if err != nil || !ok {
			t.Errorf("%s: Get = %v, %v", name, ok, err)
		}
		m.CreatedAt = noon
		if diff := cmp.Diff(m, got); diff != "" {
			t.Errorf("%s (-saved +got):\n%s", name, diff)
		}
	}
	if m, ok, err := e.Get(t.Context(), chat, 99); ok || err != nil || m.Seq != 0 {
		t.Errorf("Get of none = %v, %v, %v", m, ok, err)
	}
}

func TestBadInputSendsNothing(t *testing.T) {
	t.Parallel()
	s, err := message.New(recordtest.Silent(t), "messages", &message.Config{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	for field, spoils := range map[string][]func(*message.Message){
		"Scope": {
			func(m *message.Message) { m.Scope = "" },
			func(m *message.Message) { m.Scope = "\xff" },
			func(m *message.Message) { m.Scope = strings.Repeat("s", 2049) },
		},
		"Seq": {func(m *message.Message) { m.Seq = 0 }, func(m *message.Message) { m.Seq = -1 }},
		"Actor": {
			func(m *message.Message) { m.Actor = "anna" },
			func(m *message.Message) { m.Actor = "042" },
			func(m *message.Message) { m.Actor = "-0" },
			func(m *message.Message) { m.Actor = strings.Repeat("9", 39) },
		},
		"ActorName": {func(m *message.Message) { m.ActorName = "\xff" }},
		"Text":      {func(m *message.Message) { m.Text = "\xff" }},
		"Raw": {
			func(m *message.Message) { m.Raw = "\xff" },
			func(m *message.Message) { m.Raw = strings.Repeat("r", 400*1024) },
		},
		"At": {
			func(m *message.Message) { m.At = time.Time{} },
			func(m *message.Message) { m.At = time.UnixMilli(99_999_999_999) }, // reads as seconds
			func(m *message.Message) { m.At = time.UnixMilli(100_000_000_000).Add(-1) },
			func(m *message.Message) { m.At = noon.Add(time.Hour + 1) },
			func(m *message.Message) { m.At = time.Unix(-18_446_742_299_000_000, 0) }, // its milliseconds are those of 2026
			func(m *message.Message) { m.At = time.Unix(1<<63-1, 0) },
		},
	} {
		for _, spoil := range spoils {
			m := said(1, anna, 0)
			spoil(&m)
			out, err := s.Save(t.Context(), m)
			recordtest.WantBad(t, err, "message", field)
			if out != 0 {
				t.Errorf("%s: %v came with the error", field, out)
			}
		}
	}
	_, _, err = s.Get(t.Context(), "", 1)
	recordtest.WantBad(t, err, "message", "Scope")
	_, _, err = s.Get(t.Context(), chat, 0)
	recordtest.WantBad(t, err, "message", "Seq")
}

func TestErrorsNameMethodAndTableButNoKey(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	s, err := message.New(db.Client(), "no-such-table", nil)
	if err != nil {
		t.Fatal(err)
	}
	const person = "person@example.com"
	fails := map[string]error{}
	_, fails["Save"] = s.Save(t.Context(), message.Message{Scope: person, Seq: 1, At: time.Now()})
	_, _, fails["Get"] = s.Get(t.Context(), person, 1)
	_, fails["Recent"] = s.Recent(t.Context(), person, 1)
	_, fails["FastConversation"] = s.FastConversation(t.Context(), message.FastConversation{Scope: person, Seq: 2, At: time.Now()})
	fails["InScope"] = refused(t, s.InScope(t.Context(), person, message.Range{}))
	for method, err := range fails {
		prefix := "message: " + method + " on table no-such-table: "
		if err == nil || !strings.HasPrefix(err.Error(), prefix) || strings.Contains(err.Error(), person) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// With a Retention a message has a ttl, is not returned once that has come,
// and cannot come back.
func TestRetention(t *testing.T) {
	t.Parallel()
	const kept, skew = 24 * time.Hour, 10 * time.Minute
	e := open(t, message.Config{Retention: kept, MaxSkew: skew})
	if ttl := e.Table().TTL; ttl != "ttl" {
		t.Errorf("Table().TTL = %q", ttl)
	}
	e.save(t, said(1, anna, 3600), said(2, bo, 0))

	e.now = noon.Add(kept - skew - time.Millisecond)
	if out, err := e.Save(t.Context(), said(2, bo, 0)); err != nil || out != event.Duplicate {
		t.Errorf("just inside: %v, %v", out, err)
	}
	e.now = noon.Add(kept - skew)
	out, err := e.Save(t.Context(), said(2, bo, 0))
	if !errors.Is(err, event.ErrTooOld) || out != 0 || !strings.HasPrefix(err.Error(), "message: Save on table "+e.table+": ") {
		t.Errorf("at the horizon: %v, %v, want ErrTooOld", out, err)
	}
	for _, tc := range []struct {
		now  time.Time
		want []int64
	}{
		{noon.Add(kept - time.Hour - time.Second), []int64{2, 1}},
		{noon.Add(kept - time.Hour), []int64{2}},
		{noon.Add(kept - skew - time.Minute - time.Millisecond), []int64{2}}, // the window may not have expired
		{noon.Add(kept - skew - time.Minute), []int64{2}},
		{noon.Add(kept), nil},
	} {
		e.now = tc.now
		if got := seqs(t, e.InScope(t.Context(), chat, message.Range{NewestFirst: true})); !cmp.Equal(got, tc.want) {
			t.Errorf("InScope at %s = %v, want %v", tc.now, got, tc.want)
		}
		recent, err := e.Recent(t.Context(), chat, 10)
		if got := seqsOf(recent); err != nil || !cmp.Equal(got, tc.want) {
			t.Errorf("Recent at %s = %v, %v, want %v", tc.now, got, err, tc.want)
		}
		if _, ok, err := e.Get(t.Context(), chat, 2); err != nil || ok != (len(tc.want) > 0) {
			t.Errorf("Get at %s = %v, %v", tc.now, ok, err)
		}
		pace, err := e.FastConversation(t.Context(), message.FastConversation{Scope: chat, Seq: 3, Actor: anna, At: noon})
		judged := tc.now.Before(noon.Add(kept - skew - time.Minute))
		if judged && (err != nil || pace.Others != 1) || !judged && !errors.Is(err, event.ErrTooOld) {
			t.Errorf("FastConversation at %s = %v, %v", tc.now, pace, err)
		}
	}
	_, err = e.FastConversation(t.Context(), message.FastConversation{Scope: chat, Seq: 3, At: noon, Window: kept - skew})
	recordtest.WantBad(t, err, "message", "Window")
}

// Like DynamoDB, it ignores a ttl that is not a time: the row stays.
func TestRowsWithoutATTLStand(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{Retention: 24 * time.Hour})
	for seq, ttl := range map[int64]types.AttributeValue{1: item.N(0), 2: item.N(-1), 3: item.S("never")} {
		recordtest.Put(t, e.db.Client(), e.table, map[string]types.AttributeValue{
			"chatId": item.S(chat), "messageId": item.N(seq), "timestamp": item.N(noon.UnixMilli()), "ttl": ttl,
		})
		if out, err := e.Save(t.Context(), said(seq, anna, 0)); err != nil || out != event.Duplicate {
			t.Errorf("ttl %v: Save = %v, %v, want duplicate", ttl, out, err)
		}
		if _, ok, err := e.Get(t.Context(), chat, seq); !ok || err != nil {
			t.Errorf("ttl %v: Get = %v, %v", ttl, ok, err)
		}
	}
}

// A put that meets a transaction on the row is sent again.
func TestSaveMeetsATransaction(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.db.Inject(dynamotest.Fault{Do: dynamotest.Answer(400, `{"__type": "TransactionConflictException"}`), Op: "PutItem", Times: 2})
	cost := e.db.Meter(func() { e.save(t, said(1, anna, 0)) })
	if cost.Requests != 3 {
		t.Errorf("%v", cost)
	}
}
