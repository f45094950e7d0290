package backfill_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/upkeep/backfill"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/tzclock"
)

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// Random rows, older and new: each gets what Record, Take and MarkSeen would have
// written, byte for byte, and keeps all else. A second run writes nothing.
func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			db := dynamotest.New(t, nil)
			w := newWorld(t, db.Client(), seed)
			written := w.live(250)
			recorded := found(w)
			want := w.age(written)
			before := w.rows()
			w.put(w.Activities.Table().Name, row{"chatId": s("-1"), "activityId": s("NOT A ULID")})
			want[w.Activities.Table().Name+" -1 NOT A ULID"] = row{"chatId": s("-1"), "activityId": s("NOT A ULID")}
			if got := found(w); len(got) >= len(recorded) {
				t.Errorf("the walks find %d of %d older rows: the test ages nothing", len(got), len(recorded))
			}

			o := w.options()
			var done map[string]backfill.Counts
			var log bytes.Buffer
			o.Log = &log
			cost := db.Meter(func() { done = w.run(o) })
			// printf '%s\n' -1 'NOT A ULID' | sha256sum
			if !strings.Contains(log.String(), ": row 0856e946f426dce0 is left alone: ") || strings.Contains(log.String(), "NOT A ULID") {
				t.Errorf("an unreadable row is not named, or by its key: %s", &log)
			}
			same(t, "rows after a run", want, w.rows())
			var rows, written1, unreadable int64
			var wcu float64
			for _, c := range done {
				rows, written1, unreadable, wcu = rows+c.Rows, written1+c.Written, unreadable+c.LeftAlone, wcu+c.WCU
			}
			changed := 0
			for place := range before {
				if fmt.Sprint(format(map[string]row{"": before[place]})) != fmt.Sprint(format(map[string]row{"": want[place]})) {
					changed++
				}
			}
			if rows != int64(len(want)) || written1 != int64(changed) || changed == 0 || unreadable != 1 || wcu != cost.WCU {
				t.Errorf("counted %+v of %d rows, %d to write, for %g WCU", done, len(want), changed, cost.WCU)
			}
			if got := found(w); !slices.Equal(got, recorded) {
				t.Errorf("the walks find %d activities, %d were recorded", len(got), len(recorded))
			}

			if err := os.Remove(o.Checkpoint); err != nil {
				t.Fatal(err)
			}
			if again := db.Meter(func() { w.run(o) }); again.WCU != 0 {
				t.Errorf("a second run: %s", again)
			}
			if third := db.Meter(func() { w.run(o) }); third.RCU != 0 {
				t.Errorf("a run on the checkpoint of one that is done: %s", third)
			}
		})
	}
}

// found returns the activities that the walks of all indexes yield, in a
// period.
func found(w *world) []string {
	w.t.Helper()
	var all []string
	during := activity.Range{From: now.AddDate(0, -1, 0), To: now.Add(time.Hour)}
	add := func(walk string, a activity.Activity, err error) {
		if err == nil { // OfEvent reports rows that cannot be read
			all = append(all, walk+" "+a.Scope+" "+a.Event.String())
		}
	}
	for actor := range 4 {
		for a, err := range w.Activities.ByActor(w.t.Context(), fmt.Sprint(actor), during) {
			add("ByActor", a, err)
		}
		for _, scope := range []string{"-1", "-2", "c#d%", "team"} {
			for _, name := range names {
				for a, err := range w.Activities.ByActorAndName(w.t.Context(), scope, fmt.Sprint(actor), name, during) {
					add("ByActorAndName", a, err)
				}
				if actor > 0 {
					continue
				}
				for a, err := range w.Activities.ByName(w.t.Context(), scope, name, during) {
					add("ByName", a, err)
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// What others write between the Scan and the update stands as they wrote it.
func TestBesideLiveWriters(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	w := newWorld(t, db.Client(), 7)
	want := w.age(w.live(250))
	o := w.options()
	var changed atomic.Int64
	expect := make(chan func(), 10_000)
	for i, table := range o.Tables {
		judge := table.Backfill
		o.Tables[i].Backfill = func(it map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error) {
			in, lacks, err := judge(it)
			place := w.place(table, it)
			if chance := place[len(place)-1] % 3; !lacks || chance == 0 {
				return in, lacks, err
			} else if chance == 1 { // adds what the update has nothing to do with
				_, err := w.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
					TableName: &table.Name, Key: in.Key, UpdateExpression: aws.String("SET beside = :b"),
					ExpressionAttributeValues: row{":b": s("live")},
				})
				w.must(err)
				expect <- func() { want[place]["beside"] = s("live") }
				return in, lacks, nil
			}
			changed.Add(1)
			w.write(it)
			out, err := w.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table.Name, Key: in.Key, ConsistentRead: aws.Bool(true)})
			w.must(err)
			expect <- func() {
				if want[place] = out.Item; out.Item == nil {
					delete(want, place)
				}
			}
			return in, lacks, nil
		}
	}
	done := w.run(o)
	close(expect)
	for change := range expect {
		change()
	}
	same(t, "rows beside live writers", want, w.rows())
	var counted int64
	for _, c := range done {
		counted += c.Changed
	}
	if counted != changed.Load() || counted < 50 {
		t.Errorf("%d changed meanwhile, counted %d", changed.Load(), counted)
	}
}

// write changes the row as one of the live writers does.
func (w *world) write(it row) {
	w.t.Helper()
	ctx := w.t.Context()
	switch {
	case it["activityId"] != nil:
		ev, err := event.Parse(text(it["activityId"]))
		w.must(err)
		if ev.Time().Minute()%2 == 0 {
			_, err = w.Activities.Retract(ctx, activity.Retract{Scope: text(it["chatId"]), Event: ev})
		} else {
			_, err = w.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
				TableName: aws.String(w.Activities.Table().Name), Key: row{"chatId": it["chatId"], "activityId": it["activityId"]},
			})
		}
		w.must(err)
	case it["date"] != nil:
		day, err := tzclock.ParseDate(text(it["date"]))
		w.must(err)
		ev, err := event.New(tzclock.Stockholm.Start(day).Add(time.Hour), "another")
		w.must(err)
		_, err = w.Limits.Take(ctx, counter.Take{Key: text(it["chatId"]), Event: ev, Weight: 1, Cap: 3})
		w.must(err)
	default:
		_, err := w.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(w.Seen.Table().Name), Key: row{"pk": it["pk"]}})
		w.must(err)
		_, err = w.Seen.MarkSeen(ctx, text(it["pk"]))
		w.must(err)
	}
}

// A run without -write sends no write, leaves no file, and says the most that
// -write costs.
func TestDryRun(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	w := newWorld(t, db.Client(), 3)
	w.age(w.live(250))
	before, o := w.rows(), w.options()
	o.Write = false
	var dry map[string]backfill.Counts
	cost := db.Meter(func() { dry = w.run(o) })
	if cost.WCU != 0 {
		t.Errorf("a dry run: %s", cost)
	}
	same(t, "rows after a dry run", before, w.rows())
	if _, err := os.Stat(o.Checkpoint); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dry run leaves a checkpoint: %v", err)
	}
	o.Write = true
	for table, c := range w.run(o) {
		if c.Rows != dry[table].Rows || c.Older != dry[table].Older || c.Written != c.Older || c.WCU > dry[table].WCU || c.RCU != dry[table].RCU {
			t.Errorf("%s: said %+v, was %+v", table, dry[table], c)
		}
	}
}

// A run uses no more units than the rate allows, with any number of segments.
// Throttled requests and lost replies change nothing.
func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		w := newWorld(t, db.Client(), 5)
		want := w.age(w.live(100))
		dry := w.options()
		dry.Write, dry.Units = false, 1
		begun := time.Now()
		if cost := db.Meter(func() { w.run(dry) }); time.Since(begun) < time.Duration(cost.RCU-1)*time.Second {
			t.Errorf("%g units read in %v at 1 a second", cost.RCU, time.Since(begun))
		}

		db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Op: "UpdateItem", Nth: 20})
		db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Op: "Scan", Nth: 2})
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 40})
		o := w.options()
		o.Units = 20
		begun = time.Now()
		var done map[string]backfill.Counts
		cost := db.Meter(func() { done = w.run(o) })
		used, took := cost.RCU+cost.WCU, time.Since(begun)
		least := time.Duration(math.Floor((used-20)/20)) * time.Second // with a second's worth at hand at the start
		if took < least || took > least*5/4 {
			t.Errorf("%g units in %v at 20 a second", used, took)
		}
		same(t, "rows", want, w.rows())
		for table, c := range done {
			if c.Written+c.Changed != c.Older || c.Changed > 1 {
				t.Errorf("%s: %+v", table, c)
			}
		}
	})
}

// A row without room for what it lacks is left alone, and does not hold up the
// others.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dynamotest.New(t, nil).Client(), 19)
	table := w.Activities.Table().Name
	older := row{"chatId": s("-1"), "activityId": s("01KHNJCN209NS9FF7100000001"), "userId": n("7"), "timestamp": n("1771324200000"), "activity": s("diskning")}
	w.put(table, older)
	full := maps.Clone(older)
	full["activityId"] = s("01KHNJCN209NS9FF7100000002")
	full["notes"] = s(strings.Repeat("x", 400<<10-item.Size(full)-len("notes")))
	w.put(table, full)
	if c := w.run(w.options())[table]; c.Rows != 2 || c.Written != 1 || c.LeftAlone != 1 {
		t.Errorf("%+v", c)
	}
}

// Phrases and names in other spellings move to their normal form, whole. One whose
// phrase has a row already is left alone, and so is one that has no normal form.
func TestPhrases(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	w := newWorld(t, db.Client(), 23)
	table := w.Phrases.Table().Name
	phrase := func(pk, sk, name string) row {
		return row{"pk": s(pk), "sk": s(sk), "canonicalActivity": s(name), "gsi1pk": s("ALIASES_BY_ACTIVITY#-1"), "gsi1sk": s(name), "note": s("older")}
	}
	rows := map[string]row{}
	for _, it := range []row{
		phrase("ALIAS#-1", "Ta  disken", "diskning"), phrase("NAME#-1", "ÅSA", "42"), phrase("ALIAS#-1", "pant", "pantning"),
		phrase("ALIAS#-1", "Torka", "torkning"), phrase("ALIAS#-1", "torka", "tvätt"), phrase("ALIAS#-1", "\x01", "x"),
		{"pk": s("PATTERN#-1"), "sk": s("A B"), "version": n("1")},
	} {
		w.put(table, it)
		rows[w.place(w.tables()[3], it)] = it
	}
	want := map[string]row{}
	for _, it := range rows {
		it = maps.Clone(it)
		if text(it["sk"]) == "Ta  disken" {
			it["sk"] = s("ta disken")
		} else if text(it["sk"]) == "ÅSA" {
			it["sk"] = s("åsa")
		}
		want[w.place(w.tables()[3], it)] = it
	}
	o := w.options()
	var log bytes.Buffer
	o.Log = &log
	var done map[string]backfill.Counts
	cost := db.Meter(func() { done = w.run(o) })
	same(t, "rows", want, w.rows())
	if got, wcu := done[table], cost.WCU; got.Rows < 7 || got.Older != 3 || got.Written != 2 || got.LeftAlone != 2 || got.Changed != 0 || got.WCU != wcu || wcu != 16 {
		t.Errorf("%+v, for %v", got, cost)
	}
	if strings.Count(log.String(), " is left alone: ") != 2 || !strings.Contains(log.String(), "another row has its place") || strings.Contains(log.String(), "orka") {
		t.Errorf("log: %s", &log)
	}
	if found, ok, err := w.Phrases.Get(t.Context(), "-1", "TA disken"); !ok || err != nil || found.Name != "diskning" {
		t.Errorf("Get: %+v, %t, %v", found, ok, err)
	}
}

// A phrase that somebody else writes between the Scan and the transaction stands as
// it was written.
func TestPhrasesBesideLiveWriters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dynamotest.New(t, nil).Client(), 29)
	table := w.Phrases.Table().Name
	older := row{"pk": s("ALIAS#-1"), "sk": s("Torka"), "canonicalActivity": s("torkning")}
	w.put(table, older)
	o := w.options()
	moves := o.Tables[3].Moves
	o.Tables[3].Moves = []backfill.Move{func(it map[string]types.AttributeValue) (*dynamodb.TransactWriteItemsInput, bool, error) {
		in, needed, err := moves[0](it)
		if needed {
			older["canonicalActivity"] = s("städning")
			w.put(table, older)
		}
		return in, needed, err
	}}
	if got := w.run(o)[table]; got.Older != 1 || got.Changed != 1 || got.Written != 0 {
		t.Errorf("%+v", got)
	}
	same(t, "rows", map[string]row{table + " ALIAS#-1 Torka": older}, w.rows())
}

// An interrupted run leaves a checkpoint of whole pages, from which it goes on.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	w := newWorld(t, db.Client(), 11)
	want := w.age(w.live(450))
	o := w.options()
	o.Segments = 1
	judge, judged := o.Tables[0].Backfill, atomic.Int64{}
	ctx, interrupt := context.WithCancel(t.Context())
	o.Tables[0].Backfill = func(it map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error) {
		if judged.Add(1) == 350 {
			interrupt()
		}
		return judge(it)
	}
	done, err := backfill.Run(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if rows := done[o.Tables[0].Name].Rows; rows != 200 { // one page
		t.Errorf("%d rows are said to be done", rows)
	}
	judged.Store(1000)
	again := w.run(o)
	if got := judged.Load() - 1000; got != 250 || again[o.Tables[0].Name].Rows != 450 {
		t.Errorf("went on with %d rows of 250 that were left, and counted %+v", got, again)
	}
	same(t, "rows", want, w.rows())
}

// A checkpoint of another run is refused before a request is sent.
func TestOtherCheckpoints(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	w := newWorld(t, db.Client(), 13)
	o := w.options()
	w.run(o)
	text, err := os.ReadFile(o.Checkpoint)
	w.must(err)
	for name, change := range map[string]func(*backfill.Options){
		"segments":         func(o *backfill.Options) { o.Segments++ },
		"tables":           func(o *backfill.Options) { o.Tables = o.Tables[1:] },
		"another database": func(o *backfill.Options) { o.Where = "there" },
		"cut off":          func(o *backfill.Options) { w.must(os.WriteFile(o.Checkpoint, text[:len(text)/2], 0o600)) },
		"a null": func(o *backfill.Options) {
			w.must(os.WriteFile(o.Checkpoint, []byte(strings.Replace(string(text), "[\n      {", "[null, {", 1)), 0o600))
		},
		"not a file": func(o *backfill.Options) { o.Checkpoint = filepath.Dir(o.Checkpoint) },
		"nowhere":    func(o *backfill.Options) { o.Checkpoint += "/x" },
	} {
		other := o
		other.Checkpoint = filepath.Join(t.TempDir(), "checkpoint.json")
		w.must(os.WriteFile(other.Checkpoint, text, 0o600))
		change(&other)
		cost := db.Meter(func() {
			if _, err := backfill.Run(t.Context(), other); err == nil {
				t.Errorf("%s: is taken", name)
			}
		})
		if cost.Requests != 0 {
			t.Errorf("%s: %s", name, cost)
		}
	}
}

// The ledger knows the keys for as long as if MarkSeen had written them.
func TestKeysAreKnownAsLong(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	w := newWorld(t, db.Client(), 17)
	want := map[string]ledger.Record{}
	rows := w.live(60)
	for i := range 60 {
		key := fmt.Sprintf("KEY:%d", i)
		record, _, err := w.Seen.Get(t.Context(), key)
		w.must(err)
		want[key] = record
	}
	w.age(rows)
	w.run(w.options())
	for key, marked := range want {
		got, ok, err := w.Seen.Get(t.Context(), key)
		if err != nil || !ok || !got.ExpiresAt.Equal(marked.ExpiresAt) || got.State != ledger.Done {
			t.Errorf("%s: %+v, %v, marked %+v", key, got, err, marked)
		}
	}
}
