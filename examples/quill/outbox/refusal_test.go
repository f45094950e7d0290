package outbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

func refusal(n int) outbox.Refusal {
	return outbox.Refusal{
		Source: fact.HubSpot, Reason: "the event's time is missing", Body: fmt.Sprintf(`{"eventId":%d}`, n),
		At: noon.Add(time.Duration(n) * time.Second),
	}
}

func (e *env) refuse(t *testing.T, rs ...outbox.Refusal) {
	t.Helper()
	for _, r := range rs {
		if err := e.Refuse(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func (e *env) wantRefusals(t *testing.T, limit int, want ...outbox.Refusal) {
	t.Helper()
	got, err := e.Refusals(t.Context(), limit)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Refusals(%d): %v (-want +got)\n%s", limit, err, diff)
	}
}

func TestRefusalsNewestFirst(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.wantRefusals(t, 1)
	e.refuse(t, refusal(2), refusal(3), refusal(1))
	e.put(t, 1) // is in the same index
	e.wantRefusals(t, 9, refusal(3), refusal(2), refusal(1))
	e.wantRefusals(t, 2, refusal(3), refusal(2))
	e.wantPending(t, 9, 1)
	e.wantWaiting(t, 1)
	e.wantBad(t, "limit", func() error { _, err := e.Refusals(t.Context(), 0); return err })
}

// The same body of the same source is one refusal, the last one. Any other body or
// source is another.
func TestTheSameRefusalDoesNotPileUp(t *testing.T) {
	t.Parallel()
	e := open(t)
	first, again, other := refusal(1), refusal(1), refusal(1)
	again.At, again.Reason = noon.Add(time.Hour), "now for another reason"
	other.Source, other.At = fact.Aloware, noon.Add(2*time.Hour)
	shifted := other // the same letters, divided elsewhere
	shifted.Source, shifted.Body, shifted.At = other.Source+other.Body[:1], other.Body[1:], noon.Add(3*time.Hour)
	e.refuse(t, first, first, again, other, shifted)
	e.wantRefusals(t, 9, shifted, other, again)

	long := refusal(5)
	long.Body = strings.Repeat("x", 300*1024)
	one, two := long, long
	one.Body, one.At = one.Body+"1", noon.Add(4*time.Hour)
	two.Body, two.At = two.Body+"2", noon.Add(5*time.Hour)
	e.refuse(t, one, two) // alike after the cut
	one.Body, two.Body = long.Body, long.Body
	e.wantRefusals(t, 2, two, one)
}

// Bodies are cut at the border of a rune, and are always text.
func TestBodiesAreCutToWhatIsText(t *testing.T) {
	t.Parallel()
	e := open(t)
	for n, tc := range []struct{ body, want string }{
		{"", ""},
		{strings.Repeat("x", 307_200), strings.Repeat("x", 307_200)},
		{strings.Repeat("x", 307_201), strings.Repeat("x", 307_200)},
		{"x" + strings.Repeat("ö", 153_600), "x" + strings.Repeat("ö", 153_599)},
		{strings.Repeat("x", 307_198) + "\U0001F600", strings.Repeat("x", 307_198)},
		{strings.Repeat("x", 307_197) + "\U0001F600", strings.Repeat("x", 307_197)},
		{"a\xff\xfeb", "a\uFFFDb"},
		{strings.Repeat("\xff.", 153_600), strings.Repeat("\uFFFD.", 76_800)},
	} {
		r := refusal(n)
		r.Body, r.Reason = tc.body, strings.Repeat("ö", 5_000)
		e.refuse(t, r)
		got, err := e.Refusals(t.Context(), 1)
		if err != nil || len(got) != 1 || got[0].Body != tc.want || !utf8.ValidString(got[0].Body) {
			t.Errorf("%d: %d of %d bytes, %v", n, len(got[0].Body), len(tc.body), err)
		} else if len(got[0].Reason) != 4096 {
			t.Errorf("a reason of %d bytes", len(got[0].Reason))
		}
	}
}

// Refusals does not return a refusal after 90 days, even if DynamoDB has not
// deleted it.
func TestRefusalsExpire(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.refuse(t, refusal(0), refusal(1))
	for _, tc := range []struct {
		now  time.Duration
		want []outbox.Refusal
	}{
		{-2 * time.Millisecond, []outbox.Refusal{refusal(1), refusal(0)}},
		{0, []outbox.Refusal{refusal(1)}},
		{time.Second, nil},
	} {
		e.now = noon.Add(90*24*time.Hour + tc.now)
		e.wantRefusals(t, 9, tc.want...)
	}
	if ttl := e.Table().TTL; ttl != "ttl" {
		t.Errorf("the table's TTL is %q", ttl)
	}
}

// Expired refusals do not hide those that follow.
func TestRefusalsReadPastExpiredOnes(t *testing.T) {
	t.Parallel()
	e := open(t)
	for n := range 4 {
		e.raw(t, map[string]types.AttributeValue{
			"pk": text(fmt.Sprint("REFUSED#", n)), "type": text("REFUSED"), "source": text("x"), "receivedAt": text("2026-12-01T00:00:00.000Z"),
			"outbox": text("REFUSED"), "ttl": num("1"),
		})
	}
	e.refuse(t, refusal(1))
	e.wantRefusals(t, 1, refusal(1))
}

func TestAnUnreadableRefusalIsLeftOut(t *testing.T) {
	t.Parallel()
	e := open(t)
	for name, change := range map[string]map[string]types.AttributeValue{
		"type": {"type": text("OTHER")}, "source": {"source": nil}, "time": {"receivedAt": text("tomorrow")}, "ttl": {"ttl": text("x")},
	} {
		it := map[string]types.AttributeValue{
			"pk": text(name), "type": text("REFUSED"), "source": text("x"), "receivedAt": text("2026-12-01T00:00:00.000Z"),
			"outbox": text("REFUSED"), "ttl": num("99999999999"),
		}
		for attribute, value := range change {
			if it[attribute] = value; value == nil {
				delete(it, attribute)
			}
		}
		e.raw(t, it)
	}
	e.refuse(t, refusal(1))
	e.wantRefusals(t, 1, refusal(1))
	if len(e.unreadable) != 4 {
		t.Errorf("told of %q", e.unreadable)
	}
}

func TestBadRefusals(t *testing.T) {
	t.Parallel()
	e := open(t)
	for field, spoil := range map[string]func(*outbox.Refusal){
		"Source": func(r *outbox.Refusal) { r.Source = "" },
		"At":     func(r *outbox.Refusal) { r.At = time.Time{} },
	} {
		r := refusal(1)
		spoil(&r)
		e.wantBad(t, field, func() error { return e.Refuse(t.Context(), r) })
	}
	r := refusal(1)
	r.Source = strings.Repeat("s", 400*1024)
	e.wantBad(t, "Source", func() error { return e.Refuse(t.Context(), r) })
}

// A fault now and then, or a lost reply, does not lose a refusal.
func TestRefusalsAndFaults(t *testing.T) {
	t.Parallel()
	e := open(t)
	for n, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest, dynamotest.Throttle, dynamotest.Conflict, dynamotest.Unavailable.After()} {
		e.db.Inject(dynamotest.Fault{Do: do, Op: "PutItem"})
		e.refuse(t, refusal(n))
		e.wantRefusals(t, 1, refusal(n))
	}
	e.db.Inject(dynamotest.Fault{Do: dynamotest.InternalError, Op: "PutItem", Times: -1})
	if err := e.Refuse(t.Context(), refusal(9)); err == nil || errors.Is(err, outbox.ErrFenced) {
		t.Errorf("got %v", err)
	}
}
