package intake_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/spool"
)

// captured is what Aloware sends for one call, as somebody has captured it: the first
// delivery has no current_status, and the last two have the call inside.
var captured = []struct {
	event, body string
	want        intake.Counts
}{
	{"OutboundPhoneCall", `{"id":940868616,"type":1,"direction":2,"created_at":"2026-11-21 06:01:00","contact_id":44500,"user_id":-1,"current_status2":1,"disposition_status2":1,"talk_time":0,"duration":0,"lead_number":"+15550100001"}`, isWaiting},
	{"OutboundPhoneCall-DispositionCompleted", capturedEnd, intake.Counts{Received: 1, New: 1, Incomplete: 1}},
	{"Recording-Saved", capturedEnd, isDuplicate},
	{"Call-Disposed", capturedEnd, isDuplicate},
	{"transcription.call.summarized", `{"summary":"they talked","json_summary":{},"transcription":"hello","contact":{"id":44500},"communication":` + capturedEnd + `}`, isIgnored},
	{"transcription.open_search.saved", `{"parsed_transcription":[],"transcription":"hello","contact":{"id":44500},"communication":` + capturedEnd + `,"summary":"they talked"}`, isIgnored},
}

const capturedEnd = `{"id":940868616,"type":1,"direction":2,"created_at":"2026-11-21 06:01:00","contact_id":44500,"user_id":-1,"current_status":"completed","current_status2":9,"disposition_status":"completed","disposition_status2":4,"talk_time":63,"wait_time":2,"duration":66,"lead_number":"+15550100001","direct_recording_url":"https://recording.example/1","contact":{"id":44500,"first_name":"Dee","last_name":null,"phone_number":"+15550100001"}}`

// One call is one fact. What carries no fact leaves nothing behind, and nothing is
// refused. In any order, and a second time, the call is still one fact.
func TestACapturedCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	send := func(event, body string, want intake.Counts) {
		b.send(intake.AlowarePath, fmt.Sprintf(`{"event":%q,"body":%s}`, event, body), 200, want)
	}
	b.send(intake.AlowarePath, `{"test_payload":true}`, 200, isIgnored)
	send("Contact-Updated", `{"id":44500,"first_name":"Dee","phone_number":"+15550100001"}`, isIgnored)
	for _, d := range captured {
		send(d.event, d.body, d.want)
	}
	for _, d := range captured {
		if d.want != isIgnored {
			d.want = isDuplicate
		}
		send(d.event, d.body, d.want)
	}
	two := append(aloware.Reader{}.Events([]byte(`{}`)), aloware.Reader{}.Events([]byte(`{"event":"x"}`))...) // as -again reads them
	if got, want := b.Settle(t.Context(), two), (intake.Counts{Received: 2, Ignored: 2}); got != want {
		t.Errorf("two that are ignored: %+v", got)
	}
	keys, refusals := b.stored()
	if marked := len(b.db.Items(marks)); len(keys) != 1 || refusals != 0 || marked != 4 || len(b.db.Items(facts)) != 1 {
		t.Errorf("facts %v, %d refusals, %d deliveries marked", keys, refusals, marked)
	}
	for _, table := range []string{marks, facts} {
		for _, row := range b.db.Items(table) {
			if text := fmt.Sprint(row); strings.Contains(text, "hello") || strings.Contains(text, "they talked") || strings.Contains(text, "recording.example") {
				t.Errorf("%s has %s", table, text)
			}
		}
	}
	for _, line := range []string{
		`level=INFO msg="columns left out" source=ALOWARE fields=[body.user_id]`,
		`level=INFO msg="event ignored" source=ALOWARE kind=transcription.open_search.saved`,
	} {
		if !strings.Contains(b.logged(), line) {
			t.Errorf("%s is not in\n%s", line, b.logged())
		}
	}
	if logged := b.logged(); strings.Contains(logged, "fields=[body.user_id ") || strings.Contains(logged, "hello") {
		t.Errorf("values in the log:\n%s", logged)
	}
}

// What carries no fact needs no DynamoDB, does not wait for it, and does not go to the
// spool.
func TestIgnoredWithoutDynamoDB(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		cost := b.db.Meter(func() { b.send(intake.AlowarePath, `{"test_payload":true}`, 200, isIgnored) })
		if cost.Requests != 0 {
			t.Errorf("it cost %v", cost)
		}
		b.spooling(spool.Most)
		b.down()
		var wait sync.WaitGroup
		for range intake.Held {
			wait.Go(func() { b.send1(call("completed"), 200) })
		}
		synctest.Wait() // as many as may wait
		began := time.Now()
		if status, counts := b.serve(b.request(t.Context(), intake.AlowarePath, `{"test_payload":true}`)); status != 200 || counts != isIgnored || time.Since(began) > time.Second {
			t.Errorf("%d %+v after %s", status, counts, time.Since(began))
		}
		b.db.Heal()
		wait.Wait()
		b.inSpool(0)
	})
}

// A refused event is kept for 90 days since it first came, however often it is read
// again. What is ignored is not kept, however long it was in the spool.
func TestRefusedSinceItFirstCame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.spooling(spool.Most)
	first := b.clock()
	for _, body := range []string{call("levitating"), call("completed"), `{"test_payload":true}`} {
		if err := b.Spool.Put(spool.Entry{ReceivedAt: first, Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	b.set(first.Add(intake.Retention))
	b.TakeIn(t.Context())
	if got, want := b.Tally.Snapshot(), (intake.Counts{Received: 3, Refused: 2, Ignored: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	refused := b.clock()
	for range 2 {
		kept, err := b.Outbox.Refusals(t.Context(), 10)
		if err != nil || len(kept) != 2 {
			t.Fatal(kept, err)
		}
		b.set(b.clock().Add(day))
		for _, r := range kept {
			if !r.At.Equal(refused) || strings.Contains(r.Body, "test_payload") {
				t.Errorf("kept %+v", r)
			}
			again := aloware.Reader{}.Events([]byte(strings.Replace(r.Body, `"completed"`, `"levitating"`, 1)))[0]
			again.Since, again.Raw = r.At, []byte(r.Body)
			if got := b.Settle(t.Context(), []fact.Event{again}); got != isRefused {
				t.Errorf("again: %+v", got)
			}
		}
	}
	b.set(refused.Add(90 * day))
	if kept, err := b.Outbox.Refusals(t.Context(), 10); len(kept) != 0 || err != nil {
		t.Errorf("after 90 days: %+v, %v", kept, err)
	}
}
