package alias_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	rows "github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// older writes the row under the spelling, and returns it as a Scan does.
func (f fixture) older(t testing.TB, row map[string]any, spelling string) ddb.Item {
	t.Helper()
	f.write(t, with(row, map[string]any{"sk": s(spelling)}))
	return recordtest.Row(t, f.db.Client(), f.table, ddb.Item{"pk": item.S("ALIAS#" + chat), "sk": item.S(spelling)})
}

// move is the transaction that moves the row.
func (f fixture) move(t testing.TB, row ddb.Item) *dynamodb.TransactWriteItemsInput {
	t.Helper()
	in, needed, err := f.Backfill(row)
	if !needed || err != nil {
		t.Fatalf("Backfill: %t, %v", needed, err)
	}
	return in
}

// moves sends the transaction, which fails for the given actions.
func (f fixture) moves(t testing.TB, in *dynamodb.TransactWriteItemsInput, want ...string) {
	t.Helper()
	_, err := f.db.Client().TransactWriteItems(t.Context(), in)
	cancelled, _ := errors.AsType[*types.TransactionCanceledException](err)
	var got []string
	if cancelled != nil {
		for i, reason := range cancelled.CancellationReasons {
			if *reason.Code != "None" {
				got = append(got, [...]string{"Put", "Delete"}[i])
			}
		}
	}
	if (cancelled == nil) != (err == nil) || !cmp.Equal(got, want) {
		t.Fatalf("refused: %v, %v; want %v", got, err, want)
	}
}

// spelled are the rows of the chat under these spellings.
func (f fixture) spelled(t testing.TB, spellings ...string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for _, spelling := range spellings {
		if row := f.stored(t, "ALIAS#"+chat, spelling); len(row) > 0 {
			found[spelling] = row
		}
	}
	return found
}

// A row moves with everything it has, and the reader finds it by its phrase.
func TestBackfill(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ older, phrase string }{
		"a variation selector": {"❤\ufe0f", "❤"},
		"decomposed":           {"tva\u0308tt", "tvätt"},
		"folded longer":        {"STRAßE", "strasse"},
	} {
		for _, golden := range []map[string]any{golden(t, "older"), golden(t, "confirmed"), golden(t, "forgotten")} {
			f := open(t)
			row := f.older(t, golden, c.older)
			in := f.move(t, row)
			f.moves(t, in)
			want := map[string]map[string]any{c.phrase: with(golden, map[string]any{"sk": s(c.phrase)})}
			if diff := cmp.Diff(want, f.spelled(t, c.older, c.phrase)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
			if f.db.InProcess() { // DynamoDB Local may refuse a transaction that has its token
				f.moves(t, in) // sent again, with the SDK's token
			}
			f.moves(t, f.move(t, row), "Put", "Delete") // of a Scan before
			moved := recordtest.Row(t, f.db.Client(), f.table, ddb.Item{"pk": row["pk"], "sk": item.S(c.phrase)})
			if in, needed, err := f.Backfill(moved); in != nil || needed || err != nil {
				t.Errorf("%s: Backfill of the moved row: %v, %t, %v", name, in, needed, err)
			}
			if golden["canonicalActivity"] == nil {
				continue
			}
			if found, err := f.PhrasesOf(t.Context(), chat, item.Text(moved, "canonicalActivity")); err != nil || len(found) != 1 {
				t.Errorf("%s: PhrasesOf: %v, %v", name, found, err)
			}
		}
	}
}

func TestBackfillPrice(t *testing.T) {
	t.Parallel()
	f := open(t)
	in := f.move(t, f.older(t, golden(t, "put"), "Ta disken"))
	cost := f.db.Meter(func() { f.moves(t, in) })
	if want := price(1, 0, 6); f.db.InProcess() && cost.Price() != want { // DynamoDB Local reports only the last action
		t.Errorf("%v, want %v", cost, want)
	}
}

// What is not an older spelling of this book is left alone.
func TestBackfillLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	f := open(t)
	row := func(pk, sk string) ddb.Item { return ddb.Item{"pk": item.S(pk), "sk": item.S(sk)} }
	for _, other := range []ddb.Item{row("ALIAS#"+chat, "pant"), row("NAME#"+chat, "PANT"), row("ALIASES", "PANT"), {"chatId": item.S("1")}} {
		if in, needed, err := f.Backfill(other); in != nil || needed || err != nil {
			t.Errorf("%v: %v, %t, %v", other, in, needed, err)
		}
	}
	for _, phrase := range []string{"di\x01sk", "\u3164"} {
		in, needed, err := f.Backfill(row("ALIAS#"+chat, phrase))
		_, bad := errors.AsType[*event.InputError](err)
		if want := "alias: Backfill on table " + f.table + ": the row's phrase has no normal form: "; in != nil || needed || bad || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, %t, %v", phrase, in, needed, err)
		}
	}
}

// A row that changed after the Scan stays as it was left, whatever changed.
func TestBackfillMeetsAnother(t *testing.T) {
	t.Parallel()
	changed := map[string]any{
		"canonicalActivity": s("x"), "confirmations": n("7"), "source": nil, "learnedFrom": nil, "updatedAt": s("2026-03-02T17:30:00.000Z"),
		"namedBy": s(eventAt(t, 60).String()), "confirmedBy": s(eventAt(t, 60).String()), "confirmers": events(eventAt(t, 60)), "note": s("another's"),
	}
	for attribute, value := range changed {
		f := open(t)
		in := f.move(t, f.older(t, golden(t, "older"), "PANT"))
		f.older(t, with(golden(t, "older"), map[string]any{attribute: value}), "PANT")
		before := f.spelled(t, "PANT", "pant")
		f.moves(t, in, "Delete")
		if diff := cmp.Diff(before, f.spelled(t, "PANT", "pant")); diff != "" {
			t.Errorf("%s (-before +after)\n%s", attribute, diff)
		}
	}
	f := open(t)
	in := f.move(t, f.older(t, golden(t, "older"), "PANT"))
	erased(writer{t, f}, 1)
	f.moves(t, in, "Delete")
	if left := f.spelled(t, "PANT", "pant"); len(left) != 0 {
		t.Errorf("erased, and there: %v", left)
	}
}

// If the phrase has a row in normal form, even a forgotten one, both stay.
func TestBackfillOfAPhraseWithTwoRows(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"put", "forgotten"} {
		f := open(t)
		in := f.move(t, f.older(t, golden(t, "older"), "Ta  disken"))
		f.write(t, golden(t, name))
		before := f.spelled(t, "Ta  disken", "ta disken")
		f.moves(t, in, "Put")
		if diff := cmp.Diff(before, f.spelled(t, "Ta  disken", "ta disken")); diff != "" || len(before) != 2 {
			t.Errorf("%s (-before +after)\n%s", name, diff)
		}
	}
}

// Until it is moved, an older spelling is an error of each question and of Seed.
// The other writes do not see it, and leave it as it is.
func TestOlderSpellings(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	row := w.f.older(t, golden(t, "older"), "TA  disken")
	before := w.f.spelled(t, "TA  disken")
	fails := func(also ...string) {
		t.Helper()
		for method, call := range calls(t, w.f.another(t, nil)) {
			switch method {
			case "Put", "Correct", "Confirm", "Forget", "Get":
				continue
			}
			err := call(alias.Put{Scope: chat, Phrase: "annat", Name: "pantning", Event: eventAt(t, 60)})
			want := "alias: " + method + " on table " + w.f.table + ": a stored item cannot be read: its phrase is not in normal form, see Backfill"
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
	fails()
	refused(t, alias.ErrNotFound)(w.confirm("pantning", 60))
	refused(t, alias.ErrNotFound)(w.forget(50))
	do(t, event.Created)(w.put("diskning", 40))
	do(t, event.Created)(w.correct("torkning", 30))
	means(t, w.f, "torkning", 0)
	fails()
	if diff := cmp.Diff(before, w.f.spelled(t, "TA  disken")); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
	w.f.moves(t, w.f.move(t, row), "Put")

	w = newWriter(t)
	w.f.older(t, golden(t, "older"), "di\x01sk") // has no normal form
	fails()
}

// With OnUnreadable, questions are answered without an older spelling.
func TestOlderSpellingsAreTold(t *testing.T) {
	t.Parallel()
	f, reasons := noted(t, "PANT")
	f.older(t, golden(t, "older"), "TVÄTT")
	f.resolves(t, chat, "tvätt", "")
	f.resolves(t, chat, "ta disken", "diskning")
	if got := reasons(); len(got) != 2 || !strings.HasSuffix(got[1], "its phrase is not in normal form, see Backfill") {
		t.Errorf("reasons: %q", got)
	}
	if found, err := f.PhrasesOf(t.Context(), chat, "pantning"); err != nil || len(found) != 0 {
		t.Errorf("PhrasesOf: %v, %v", found, err)
	}
}

// Rows of normal form 1 that differ in normal form 2 behave like any other once
// they are moved: they have events, and some were forgotten.
func TestBackfillOfRowsOfNormalForm1(t *testing.T) {
	t.Parallel()
	for _, invisible := range []string{
		"\u3164", "\u115f", "\u1160", "\uffa0", "\u2800", "\u180b", "\u180d", "\u180f",
		"\U000e0001", "\U000e0061", "\U000e007f", "\U000e0100", "\U000e01ef",
	} {
		t.Run(fmt.Sprintf("%+q", invisible), func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			w.f.moves(t, w.f.move(t, w.f.older(t, with(golden(t, "put"), map[string]any{
				"confirmations": n("1"), "confirmedBy": s(eventAt(t, 40).String()),
			}), "ta disken"+invisible)))
			w.readAs("diskning")
			owner(t, "diskning")(w.put("torkning", 30))
			do(t, event.Duplicate)(w.put("diskning", 30))
			refused(t, event.ErrSuperseded)(w.correct("torkning", 65))
			refused(t, event.ErrSuperseded)(w.forget(65))
			do(t, event.Duplicate)(w.confirm("diskning", 40))
			do(t, event.Created)(w.confirm("diskning", 30))
			do(t, event.Created)(w.correct("torkning", 20))
			w.readAs("torkning")
		})
	}
	w := newWriter(t)
	w.f.moves(t, w.f.move(t, w.f.older(t, with(golden(t, "forgotten"), map[string]any{"namedBy": s(eventAt(t, 50).String())}), "ta disken\U000e0100")))
	if done, err := w.f.Seed(t.Context(), chat, map[string]string{"ta disken": "x"}); err != nil || done != 0 {
		t.Errorf("Seed: %d, %v", done, err)
	}
	refused(t, alias.ErrNotFound)(w.confirm("x", 20))
	refused(t, event.ErrSuperseded)(w.put("x", 60))
	do(t, event.Duplicate)(w.forget(50))
	w.readAs("")
	do(t, event.Created)(w.put("x", 40))
	w.readAs("x")
}

// A row moves with all its attributes: also with what the table has under a name
// of FORMAT.md and means something else by, which is why the name was changed.
func TestBackfillWithOtherNames(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	f := fixture{db: db, table: db.Name("homeops")}
	f.Store = f.another(t, func(c *alias.Config) { c.Names = map[string]string{"source": "aliasSource", "sk": "phrase"} })
	recordtest.Create(t, db.Client(), f.Table())
	row := ddb.Item{
		"pk": item.S("ALIAS#" + chat), "phrase": item.S("Tvätta  nu"), "canonicalActivity": item.S("tvätt"),
		"aliasSource": item.S("learned"), "source": item.S("theirs"), "sk": item.S("theirs"),
	}
	recordtest.Put(t, db.Client(), f.table, row)
	f.moves(t, f.move(t, row))
	f.resolves(t, chat, "tvätta nu", "tvätt")
	row["phrase"] = item.S("tvätta nu")
	moved := recordtest.Row(t, db.Client(), f.table, ddb.Item{"pk": row["pk"], "phrase": row["phrase"]})
	if diff := cmp.Diff(rows.Format(row), rows.Format(moved)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
