package intake_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
)

func keyOf(key string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: key}}
}

// old writes a mark as the earlier pipeline did. It expires after the given time,
// or never for 0.
func (b *bench) old(key string, life time.Duration) {
	b.t.Helper()
	row := keyOf(key)
	row["seenAt"] = &types.AttributeValueMemberS{Value: "2026-11-05T17:30:00Z"}
	row["source"] = &types.AttributeValueMemberS{Value: "ALOWARE"}
	if life != 0 {
		row["expiresAt"] = &types.AttributeValueMemberN{Value: strconv.FormatInt(b.clock().Add(life).Unix(), 10)}
	}
	_, err := b.db.Client().PutItem(b.t.Context(), &dynamodb.PutItemInput{TableName: aws.String(marks), Item: row})
	if err != nil {
		b.t.Fatal(err)
	}
}

const day = 24 * time.Hour

// The event is dated 2026-11-21 06:01, or 06:00:00.123 if it is HubSpot's. The
// clock says 06:05, and the cutover is after the event unless the case says
// otherwise.
func TestCutover(t *testing.T) {
	t.Parallel()
	said := time.Date(2026, 11, 21, 6, 1, 0, 0, time.UTC)
	cutover := time.Date(2026, 11, 21, 6, 4, 0, 0, time.UTC)
	occurred := time.UnixMilli(1795240800123)
	for name, tc := range map[string]struct {
		body    string        // HubSpot's if it is empty
		old     string        // a mark
		life    time.Duration // of the mark
		cutover time.Time
		clock   time.Time
		want    intake.Counts
		reads   int
	}{
		"no cutover":                       {body: call("completed"), old: "ALOWARE:985097163", life: day, want: isNew},
		"an old mark":                      {body: call("completed"), old: "ALOWARE:985097163", life: day, cutover: cutover, want: isOld, reads: 1},
		"of a call that rings":             {body: call("ringing"), old: "ALOWARE:985097163", life: day, cutover: cutover, want: isOld, reads: 1},
		"no old mark":                      {body: call("completed"), cutover: cutover, want: isNew, reads: 1},
		"another's mark":                   {body: call("completed"), old: "ALOWARE:985097164", life: day, cutover: cutover, want: isNew, reads: 1},
		"a mark for ever":                  {body: call("completed"), old: "ALOWARE:985097163", cutover: cutover, want: isOld, reads: 1},
		"a mark that lasts a second":       {body: call("completed"), old: "ALOWARE:985097163", life: time.Second, cutover: cutover, want: isOld, reads: 1},
		"a mark that ends now":             {body: call("completed"), old: "ALOWARE:985097163", life: time.Nanosecond, cutover: cutover, want: isNew, reads: 1},
		"a mark that has ended":            {body: call("completed"), old: "ALOWARE:985097163", life: -time.Minute, cutover: cutover, want: isNew, reads: 1},
		"an event at the cutover":          {body: call("completed"), old: "ALOWARE:985097163", life: day, cutover: said, want: isNew},
		"an event just before":             {body: call("completed"), old: "ALOWARE:985097163", life: day, cutover: said.Add(time.Millisecond), want: isOld, reads: 1},
		"the last moment of the retention": {body: call("completed"), old: "ALOWARE:985097163", cutover: cutover, clock: cutover.Add(14*day - 1), want: isOld, reads: 1},
		"the retention is over":            {body: call("completed"), old: "ALOWARE:985097163", cutover: cutover, clock: cutover.Add(14 * day), want: isNew},
		"the clock is before the cutover":  {body: call("completed"), old: "ALOWARE:985097163", life: day, cutover: cutover, clock: said.Add(time.Second), want: isOld, reads: 1},
		"HubSpot, without occurredAt":      {old: "HUBSPOT:0-1:124:contact.propertyChange", life: day, cutover: cutover, want: isOld, reads: 1},
		"HubSpot, with it":                 {old: "HUBSPOT:0-1:124:contact.propertyChange:1795240800123", life: day, cutover: cutover, want: isOld, reads: 1},
		"HubSpot, another time":            {old: "HUBSPOT:0-1:124:contact.propertyChange:1795240800124", life: day, cutover: cutover, want: isNew, reads: 1},
		"HubSpot, another object":          {old: "HUBSPOT:0-1:125:contact.propertyChange", life: day, cutover: cutover, want: isNew, reads: 1},
		"HubSpot, an event at the cutover": {old: "HUBSPOT:0-1:124:contact.propertyChange", life: day, cutover: occurred, want: isNew},
		"HubSpot, a mark that has ended":   {old: "HUBSPOT:0-1:124:contact.propertyChange", life: -1, cutover: cutover, want: isNew, reads: 1},
		"a row of the ledger's own":        {body: call("completed"), old: "claim ALOWARE:985097163", life: day, cutover: cutover, want: isNew, reads: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Cutover = tc.cutover
			if !tc.clock.IsZero() {
				b.set(tc.clock)
			}
			if key, ours := strings.CutPrefix(tc.old, "claim "); ours {
				if _, err := b.Ledger.MarkSeen(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			} else if tc.old != "" {
				b.old(tc.old, tc.life)
			}
			path, body := intake.AlowarePath, tc.body
			if body == "" {
				path, body = intake.HubSpotPath, batch(change(1))
			}
			cost := b.db.Meter(func() { b.send(path, body, 200, tc.want) })
			if got := cost.ByOp["BatchGetItem"]; got != tc.reads || cost.Requests != tc.reads+1 {
				t.Errorf("%d reads, want %d: %v", got, tc.reads, cost)
			}
			b.wants(tc.want.New)
			// an old event is a duplicate from now on, even without the old mark
			b.Cutover = time.Time{}
			b.send(path, body, 200, isDuplicate)
			b.wants(tc.want.New)
		})
	}
}

// The old marks may have another retention.
func TestRetentionOfOldMarks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Cutover, b.Retention = b.clock(), day
	b.old("ALOWARE:985097163", 0)
	b.set(b.clock().Add(day))
	if cost := b.db.Meter(func() { b.send(intake.AlowarePath, call("completed"), 200, isNew) }); cost.ByOp["BatchGetItem"] != 0 {
		t.Error(cost)
	}
	b.set(b.clock().Add(-time.Second))
	b.send(intake.AlowarePath, call("missed"), 200, isOld)
}

// A request reads 100 keys, each once, and events after the cutover are not read.
// Keys that DynamoDB leaves out, or cannot answer, are asked for again.
func TestManyOldMarks(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{
		nil, dynamotest.Unprocessed.Last(60), dynamotest.Unprocessed, dynamotest.Throttle, dynamotest.LoseReply, dynamotest.Unavailable,
	} {
		t.Run(fmt.Sprint(do), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.Cutover = b.clock()
				var events []string
				for n := range 120 { // 240 keys
					events = append(events, change(n))
					if n%3 == 0 {
						b.old(fmt.Sprintf("HUBSPOT:0-1:%d:contact.propertyChange", 123+n), day)
					}
				}
				// the same object again: the shorter of its keys comes twice
				events = append(events, strings.Replace(change(1), "1795240800123", "1795240800124", 1))
				// after the cutover
				events = append(events, strings.Replace(change(1), "1795240800123", "1795250800124", 1), "7")
				requests := 3
				if do != nil {
					b.db.Inject(dynamotest.Fault{Do: do, Op: "BatchGetItem", Times: 2})
					requests += 2
				}
				cost := b.db.Meter(func() {
					b.send(intake.HubSpotPath, batch(events...), 200, intake.Counts{Received: 123, New: 82, Duplicate: 40, Old: 40, Refused: 1})
				})
				if got := cost.ByOp["BatchGetItem"]; got != requests {
					t.Errorf("%d reads, want %d", got, requests)
				}
			})
		})
	}
}

// If nobody can tell whether an event is old, it is not stored. Events after the
// cutover are stored.
func TestOldMarksThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.Unprocessed, dynamotest.Throttle, dynamotest.LoseReply, dynamotest.LoseRequest} {
		t.Run(fmt.Sprint(do), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.Cutover = b.clock()
				b.old("ALOWARE:985097163", day)
				b.db.Inject(dynamotest.Fault{Do: do, Op: "BatchGetItem", Times: -1})
				b.send(intake.AlowarePath, call("completed"), 503, isUnstored)
				b.db.Heal()
				b.send(intake.AlowarePath, call("completed"), 200, isOld)
				b.wants(0)
			})
		})
	}
}

// A table that may not be read is an error at once. Events after the cutover are
// stored.
func TestOldMarksThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Cutover = b.clock()
	b.db.Inject(dynamotest.Fault{Do: dynamotest.Answer(http.StatusBadRequest, `{"__type": "AccessDeniedException"}`), Op: "BatchGetItem"})
	late := strings.Replace(change(2), "1795240800123", "1795250800124", 1)
	b.send(intake.HubSpotPath, batch(change(1), late, "7"), 503, intake.Counts{Received: 3, New: 1, Refused: 1, Waiting: 1, Unstored: 1})
	if !strings.Contains(b.logged(), "events=1 first=\"intake: BatchGetItem on table QuillIdempotencyLedger: ") {
		t.Errorf("logged\n%s", b.logged())
	}
}

// A mark that was written just now counts, because reads are consistent. A key
// that no table can hold marks nothing, and does not hold up others.
func TestOldKeys(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Cutover = b.clock()
	release, err := b.db.Server().HoldReads(marks)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	b.old("HUBSPOT:0-1:124:contact.propertyChange", day)
	events := hubspot.Events([]byte(batch(change(1), change(2), change(3))))
	events[1].Old = []string{strings.Repeat("x", 2049), ""}
	events[2].Old = []string{strings.Repeat("x", 2048)}
	if got, want := b.Settle(t.Context(), events), (intake.Counts{Received: 3, New: 2, Duplicate: 1, Old: 1}); got != want {
		t.Errorf("%+v, want %+v\n%s", got, want, b.logged())
	}
}

// related is an association of HubSpot, added or removed, and its key by the version of
// quill that left that out.
const (
	relatedKey = "HUBSPOT:62515:41:contact.associationChange:123-55:-:1795240800123:10"
	related    = `{"eventId":10,"subscriptionId":41,"portalId":62515,"occurredAt":1795240800123,"subscriptionType":"contact.associationChange","attemptNumber":0,"associationType":"CONTACT_TO_COMPANY","fromObjectId":123,"toObjectId":55,"associationRemoved":false}`
)

// An event that an earlier version of quill has marked, under its key, is a duplicate,
// as long as that version may run beside this one and its mark lasts.
func TestTheKeyOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	occurred := time.UnixMilli(1795240800123)
	for name, tc := range map[string]struct {
		began time.Time
		later time.Duration
		key   string
		want  intake.Counts
		reads int
	}{
		"the version begins now":          {began: occurred.Add(time.Minute), key: relatedKey, want: isDuplicate, reads: 1},
		"another's mark":                  {began: occurred.Add(time.Minute), key: relatedKey + "0", want: isNew, reads: 1},
		"both versions run":               {began: occurred.Add(time.Millisecond - time.Hour), key: relatedKey, want: isDuplicate, reads: 1},
		"only this one runs":              {began: occurred.Add(-time.Hour), key: relatedKey, want: isNew},
		"in the mark's last minute":       {began: occurred.Add(time.Minute), later: 14*day - time.Minute, key: relatedKey, want: isDuplicate, reads: 1},
		"the mark has ended":              {began: occurred.Add(time.Hour), later: 14 * day, key: relatedKey, want: isNew, reads: 1},
		"all marks have ended":            {began: occurred.Add(time.Minute), later: 15 * day, key: relatedKey, want: isNew},
		"an event that has the same keys": {began: occurred.Add(time.Minute), key: "", want: isNew},
	} {
		b := newBench(t)
		body := related
		if b.Began = tc.began; tc.key == "" {
			body = change(1)
		} else if out, err := b.Ledger.MarkSeen(t.Context(), tc.key); err != nil {
			t.Fatal(out, err)
		}
		b.set(b.clock().Add(tc.later))
		cost := b.db.Meter(func() { b.send(intake.HubSpotPath, batch(body), 200, tc.want) })
		if reads := cost.Requests - 1; reads != tc.reads {
			t.Errorf("%s: %d reads", name, reads)
		}
		b.send(intake.HubSpotPath, batch(body), 200, isDuplicate)
		b.wants(tc.want.New)
	}
}

// A mark of the pipeline before the cutover does not count under a key of quill's, and
// the reverse.
func TestOldMarksOfTheOther(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Cutover, b.Began = b.clock(), b.clock()
	b.old(relatedKey, day)
	b.send(intake.HubSpotPath, batch(related), 200, isNew)
	b.send(intake.HubSpotPath, batch(strings.Replace(related, ":false", ":true", 1)), 200, isNew)
}
