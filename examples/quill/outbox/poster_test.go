package outbox_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

func (e *env) wantPoster(t *testing.T, want outbox.Poster) {
	t.Helper()
	got, err := e.LoadPoster(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("LoadPoster: %v (-want +got)\n%s", err, diff)
	}
}

func TestThePosterIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.wantPoster(t, outbox.Poster{})
	hour := map[int64]outbox.Window{}
	for n := range int64(61) {
		hour[29_671_200+n] = outbox.Window{Rows: 10_000, Posts: int(n)}
	}
	for _, p := range []outbox.Poster{
		{Fence: 1},
		{Fence: 1, Batch: "1.1", Table: fact.Deals, Rows: 10_000, Until: noon.Add(-time.Hour), PostAt: noon, Hour: hour, Total: map[string]int64{fact.Deals: 1 << 40, fact.Changes: 0}},
		{Fence: 2, PostAt: noon.Add(time.Millisecond), Sums: outbox.Sums{Posted: 1, Recovered: 2, Reposted: 3, Doubled: 4, DimensionRows: 5, RowsReposted: 6}},
	} {
		if err := e.SavePoster(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		e.wantPoster(t, p)
	}
	cost := e.db.Meter(func() {
		if err := e.SavePoster(t.Context(), outbox.Poster{Fence: 2, Hour: hour}); err != nil {
			t.Error(err)
		}
	})
	cost.Want(t, dynamotest.Price{Requests: 1, WCU: 2})
	for field, p := range map[string]outbox.Poster{
		"Fence":  {},
		"Batch":  {Fence: 1, Batch: "\xff", Table: fact.Deals},
		"Table":  {Fence: 1, Batch: "1.1"},
		"PostAt": {Fence: 1, PostAt: time.Unix(1<<40, 0)},
		"Until":  {Fence: 1, Until: time.Unix(1<<40, 0)},
		"Total":  {Fence: 1, Total: map[string]int64{"": 1}},
	} {
		e.wantBad(t, field, func() error { return e.SavePoster(t.Context(), p) })
	}
}

// A later poster shuts out an earlier one for good. The same poster may write
// again.
func TestAnEarlierPosterIsFencedOff(t *testing.T) {
	t.Parallel()
	e := open(t)
	second := outbox.Poster{Fence: 2, PostAt: noon}
	for _, p := range []outbox.Poster{{Fence: 1}, {Fence: 2}, second} {
		if err := e.SavePoster(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	err := e.SavePoster(t.Context(), outbox.Poster{Fence: 1, Batch: "1.2", Table: fact.Deals})
	if !errors.Is(err, outbox.ErrFenced) || !strings.HasPrefix(err.Error(), "outbox: SavePoster on table QuillFacts: ") {
		t.Errorf("got %v, want ErrFenced", err)
	}
	e.wantPoster(t, second)
}

// A delayed request does not undo what the same poster has written since.
func TestALateRequestIsFencedOff(t *testing.T) {
	t.Parallel()
	e := open(t)
	for name, save := range map[string]func(*outbox.Store, string) error{
		"SavePoster": func(s *outbox.Store, text string) error {
			return s.SavePoster(t.Context(), outbox.Poster{Fence: 1, Batch: text, Table: fact.Deals})
		},
		"Learn": func(s *outbox.Store, text string) error {
			return s.Learn(t.Context(), 1, outbox.Known{Key: "k", Table: fact.Contacts, Row: fact.Row{"email": text}})
		},
	} {
		e.db.Inject(dynamotest.Fault{Do: dynamotest.After(func() {
			if err := save(e.Store, "second"); err != nil {
				t.Error(name, err)
			}
		}), Op: "PutItem"})
		e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem"}) // the SDK sends it again
		if err := save(e.Store, "first"); !errors.Is(err, outbox.ErrFenced) {
			t.Errorf("%s: the late request: %v", name, err)
		}
	}
	e.wantPoster(t, outbox.Poster{Fence: 1, Batch: "second", Table: fact.Deals})
}

func TestAPosterThatCannotBeRead(t *testing.T) {
	t.Parallel()
	e := open(t)
	minute := func(value types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"5": value}}
	}
	for name, it := range map[string]map[string]types.AttributeValue{
		"type":   {"type": text("OTHER")},
		"fence":  {"fence": text("x")},
		"postAt": {"postAt": text("x")},
		"hour":   {"hour": text("x")},
		"minute": {"hour": minute(text("x"))},
		"rows":   {"hour": minute(&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"rows": text("x")}})},
		"named":  {"hour": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"noon": &types.AttributeValueMemberM{}}}},
		"total":  {"total": minute(text("x"))},
		"totals": {"total": text("x")},
		"sums":   {"sums": text("x")},
		"posted": {"sums": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"posted": text("x")}}},
	} {
		if it["pk"] = text("POSTER"); it["type"] == nil {
			it["type"] = text("POSTER")
		}
		e.raw(t, it)
		if p, err := e.LoadPoster(t.Context()); err == nil || cmp.Diff(outbox.Poster{}, p) != "" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func contact(n string) outbox.Known {
	return outbox.Known{
		Key: "ALOWARE:CONTACT:" + n, Table: fact.Contacts, Row: fact.Row{"firstName": "Dee", "lastName": ""},
		At: map[string]time.Time{"firstName": noon, "lastName": noon.Add(time.Millisecond)},
	}
}

func (e *env) wantKnown(t *testing.T, keys []string, want ...outbox.Known) {
	t.Helper()
	all := map[string]outbox.Known{}
	for _, k := range want {
		all[k.Key] = k
	}
	got, err := e.Known(t.Context(), keys)
	if diff := cmp.Diff(all, got); err != nil || diff != "" {
		t.Errorf("Known: %v (-want +got)\n%s", err, diff)
	}
}

func TestWhatIsKnownIsReadAsItWasLearned(t *testing.T) {
	t.Parallel()
	e := open(t)
	bare := outbox.Known{Key: "d", Table: fact.Deals}
	for _, k := range []outbox.Known{contact("1"), contact("2"), bare} {
		if err := e.Learn(t.Context(), 1, k); err != nil {
			t.Fatal(err)
		}
	}
	one := contact("1").Key
	e.wantKnown(t, nil)
	e.wantKnown(t, []string{"none"})
	e.wantKnown(t, []string{one, "none", one, "d"}, contact("1"), bare)
	var keys []string
	var all []outbox.Known
	for _, n := range numbers(100, 600) {
		k := outbox.Known{Key: callKey(n), Table: fact.Contacts}
		if err := e.Learn(t.Context(), 1, k); err != nil {
			t.Fatal(err)
		}
		keys, all = append(keys, k.Key), append(all, k)
	}
	e.wantKnown(t, keys, all...)

	anew := outbox.Known{Key: one, Table: fact.Contacts, Row: fact.Row{"stage": "customer"}}
	if err := e.Learn(t.Context(), 1, anew); err != nil {
		t.Fatal(err)
	}
	e.wantKnown(t, []string{one}, anew)
}

func TestLearnIsFenced(t *testing.T) {
	t.Parallel()
	e := open(t)
	later := contact("1")
	later.Row = fact.Row{"firstName": "Di"}
	for fence, k := range map[int64]outbox.Known{2: later} {
		if err := e.Learn(t.Context(), fence, k); err != nil {
			t.Fatal(err)
		}
	}
	err := e.Learn(t.Context(), 1, contact("1"))
	if !errors.Is(err, outbox.ErrFenced) || !strings.HasPrefix(err.Error(), "outbox: Learn on table QuillFacts: ") {
		t.Errorf("got %v, want ErrFenced", err)
	}
	e.wantKnown(t, []string{later.Key}, later)
	for range 2 { // the same poster, and again
		if err := e.Learn(t.Context(), 2, contact("1")); err != nil {
			t.Error(err)
		}
	}
	e.wantKnown(t, []string{later.Key}, contact("1"))
}

func TestBadKnowledge(t *testing.T) {
	t.Parallel()
	e := open(t)
	for field, spoil := range map[string]func(*outbox.Known){
		"Key":   func(k *outbox.Known) { k.Key = strings.Repeat("k", 2043) },
		"Table": func(k *outbox.Known) { k.Table = "" },
		"Row.a": func(k *outbox.Known) { k.Row = fact.Row{"a": 1} },
		"Row":   func(k *outbox.Known) { k.Row = fact.Row{"a": strings.Repeat("x", 400*1024)} },
		"At":    func(k *outbox.Known) { k.At = map[string]time.Time{"": noon} },
		"At.a":  func(k *outbox.Known) { k.At = map[string]time.Time{"a": {}} },
	} {
		k := contact("1")
		spoil(&k)
		e.wantBad(t, field, func() error { return e.Learn(t.Context(), 1, k) })
	}
	e.wantBad(t, "fence", func() error { return e.Learn(t.Context(), 0, contact("1")) })
	e.wantBad(t, "keys", func() error { _, err := e.Known(t.Context(), []string{"a", ""}); return err })
}

// A spoilt row counts as unknown, and the next Learn replaces it.
func TestUnreadableKnowledgeIsLeftOut(t *testing.T) {
	t.Parallel()
	e := open(t)
	keys := []string{contact("1").Key}
	for name, change := range map[string]map[string]types.AttributeValue{
		"type": {"type": text("OTHER")}, "row": {"row": text("x")}, "changed": {"changed": text("x")},
		"time": {"changed": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"a": text("noon")}}},
	} {
		it := map[string]types.AttributeValue{"pk": text("KNOWN#" + name), "type": text("KNOWN")}
		for attribute, value := range change {
			it[attribute] = value
		}
		e.raw(t, it)
		keys = append(keys, name)
	}
	if err := e.Learn(t.Context(), 1, contact("1")); err != nil {
		t.Fatal(err)
	}
	e.wantKnown(t, keys, contact("1"))
	if len(e.unreadable) != 4 || e.unreadable["KNOWN#row"] == "" {
		t.Errorf("told of %q", e.unreadable)
	}
	if err := e.Learn(t.Context(), 1, outbox.Known{Key: "row", Table: fact.Deals}); err != nil {
		t.Error(err)
	}
	e.wantKnown(t, []string{"row"}, outbox.Known{Key: "row", Table: fact.Deals})
}

// Each row is written once, whatever is lost. A lost reply does not fence off its
// own poster.
func TestThePosterAndFaults(t *testing.T) {
	t.Parallel()
	e := open(t)
	fence := int64(0)
	for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest, dynamotest.Throttle, dynamotest.Conflict, dynamotest.Unavailable.After()} {
		fence++
		p := outbox.Poster{Fence: fence, PostAt: noon.Add(time.Duration(fence) * time.Minute)}
		e.db.Inject(dynamotest.Fault{Do: do, Op: "PutItem"})
		if err := e.SavePoster(t.Context(), p); err != nil {
			t.Errorf("SavePoster: %v", err)
		}
		e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "GetItem"})
		e.wantPoster(t, p)
		e.db.Heal()
		k := contact("1")
		k.At["firstName"] = p.PostAt
		e.db.Inject(dynamotest.Fault{Do: do, Op: "PutItem"})
		if err := e.Learn(t.Context(), fence, k); err != nil {
			t.Errorf("Learn: %v", err)
		}
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Op: "BatchGetItem"})
		e.wantKnown(t, []string{k.Key}, k)
		e.db.Heal()
	}
}

// A transaction that stays in the way becomes an error only in the end.
func TestConflictsThatStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := open(t)
		e.put(t, 1)
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Conflict, Op: "UpdateItem", Times: 7})
		e.mark(t, "1.1", 1)
		e.wantPosted(t, 1, "1.1")
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Conflict, Op: "UpdateItem", Nth: 1, Times: -1})
		begin := time.Now()
		_, err := e.MarkPosted(t.Context(), "1.1", []string{callKey(1)})
		if took := time.Since(begin); err == nil || took < time.Second || took > 5*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}

// What was learned late is counted once, however often it is written. A row that cannot
// be read does not hide the others.
func TestLate(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, err := range []error{
		e.SaveLate(t.Context(), "1.1", outbox.Sums{Posted: 7}),
		e.SaveLate(t.Context(), "1.1", outbox.Sums{Posted: 1, Doubled: 2}),
		e.SaveLate(t.Context(), "2.1", outbox.Sums{Doubled: 3}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	e.raw(t, map[string]types.AttributeValue{"pk": text("LATE#3.1"), "outbox": text("LATE"), "receivedAt": text("x"), "sums": text("x")})
	if got, err := e.Late(t.Context()); err != nil || got != (outbox.Sums{Posted: 1, Doubled: 5}) {
		t.Errorf("%+v, %v", got, err)
	}
	e.wantBad(t, "batch", func() error { return e.SaveLate(t.Context(), "", outbox.Sums{}) })
}
