package backfill_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/upkeep/backfill"
	"github.com/homeops/ddbpatterns/internal/golden"
)

type row = map[string]types.AttributeValue

func s(text string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: text} }
func n(digits string) types.AttributeValue { return &types.AttributeValueMemberN{Value: digits} }
func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return ""
}

var now = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// world is homeops' tables on a database.
type world struct {
	*app.App
	t      testing.TB
	client *dynamodb.Client
	rand   *rand.Rand
}

func newWorld(t testing.TB, client *dynamodb.Client, seed uint64) *world {
	t.Helper()
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.Options{Config: cfg, DB: client, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{App: a, t: t, client: client, rand: rand.New(rand.NewPCG(seed, 0))}
	w.must(a.CreateTables(t.Context(), false)) // the rows' times are not the server's
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// tables returns the tables that a run goes through.
func (w *world) tables() []backfill.Table {
	seen, err := w.Seen.Operators(w.client)
	w.must(err)
	return []backfill.Table{
		{Table: w.Activities.Table(), Backfill: w.Activities.Backfill},
		{Table: w.Limits.Table(), Backfill: w.Limits.Backfill},
		{Table: w.Seen.Table(), Backfill: seen.Backfill},
		{Table: w.Phrases.Table(), Moves: []backfill.Move{w.Phrases.Backfill, w.Names.Backfill}},
	}
}

func (w *world) options() backfill.Options {
	return backfill.Options{
		DB: w.client, Where: "here", Tables: w.tables(), Segments: 3, Units: 40000, Write: true,
		Checkpoint: filepath.Join(w.t.TempDir(), "checkpoint.json"), Log: w.t.Output(),
	}
}

func (w *world) run(o backfill.Options) map[string]backfill.Counts {
	w.t.Helper()
	done, err := backfill.Run(w.t.Context(), o)
	w.must(err)
	return done
}

// rows returns all rows of the tables, by table and key.
func (w *world) rows() map[string]row {
	w.t.Helper()
	all := map[string]row{}
	for _, t := range w.tables() {
		pages := dynamodb.NewScanPaginator(w.client, &dynamodb.ScanInput{TableName: &t.Name})
		for pages.HasMorePages() {
			page, err := pages.NextPage(context.Background())
			w.must(err)
			for _, it := range page.Items {
				all[w.place(t, it)] = it
			}
		}
	}
	return all
}

func (w *world) place(t backfill.Table, it row) string {
	return t.Name + " " + text(it[t.Key.Partition.Name]) + " " + text(it[t.Key.Sort.Name])
}

func (w *world) put(table string, it row) {
	w.t.Helper()
	_, err := w.client.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it})
	w.must(err)
}

func format(rows map[string]row) map[string]string {
	all := map[string]string{}
	for place, it := range rows {
		all[place] = golden.Format(it)
	}
	return all
}

func same(t testing.TB, what string, want, got map[string]row) {
	t.Helper()
	if diff := cmp.Diff(format(want), format(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%.3000s", what, diff)
	}
}

var names = []string{"diskning", "50%", "a#b", "städning", "a#b#c%23"}

// live writes so many rows of each kind, as the bot does, and returns them.
func (w *world) live(each int) map[string]row {
	w.t.Helper()
	for i := range each {
		scope := []string{"-1", "-2", "c#d%", "team"}[w.rand.IntN(4)]
		ev, err := event.New(now.Add(-time.Duration(i)*time.Minute), "test", fmt.Sprint(i))
		w.must(err)
		_, err = w.Activities.Record(w.t.Context(), activity.Activity{
			Scope: scope, Actor: fmt.Sprint(w.rand.IntN(4)), Event: ev, Name: names[w.rand.IntN(len(names))], Kind: "chore", Effort: 0.5, Seq: int64(i),
		})
		w.must(err)
		if w.rand.IntN(20) == 0 {
			_, err := w.Activities.Retract(w.t.Context(), activity.Retract{Scope: scope, Event: ev})
			w.must(err)
		}
		day, err := event.New(now.Add(-time.Duration(w.rand.IntN(6*24))*time.Hour), "test", fmt.Sprint(i))
		w.must(err)
		_, err = w.Limits.Take(w.t.Context(), counter.Take{Key: fmt.Sprint(i), Event: day, Weight: 1, Cap: 3})
		w.must(err)
		_, err = w.Seen.MarkSeen(w.t.Context(), fmt.Sprintf("KEY:%d", i))
		w.must(err)
	}
	return w.rows()
}

// age turns about three of four rows into rows of the older system, and returns
// what a run must make of all: the aged rows, with the live rows' values of the
// attributes concerned.
func (w *world) age(rows map[string]row) (want map[string]row) {
	w.t.Helper()
	want = map[string]row{}
	tables := w.tables()
	for _, place := range sorted(rows) {
		it := rows[place]
		want[place] = it
		if w.rand.IntN(4) == 0 || it["retractedAt"] != nil {
			continue
		}
		older, concerned := maps.Clone(it), []string{"ttl"}
		table, _, _ := strings.Cut(place, " ")
		switch table {
		case tables[0].Name:
			concerned = []string{"activity", "timestamp", "activityTimestamp", "chatUser"}
			w.ageActivity(older)
		case tables[1].Name:
			w.drop(older, "ttl", n("0"), s("never"), n("1774785601000"))
			if w.rand.IntN(2) == 0 {
				maps.DeleteFunc(older, func(name string, _ types.AttributeValue) bool {
					return strings.HasPrefix(name, "e_") || name == "recorded"
				})
			}
		case tables[2].Name:
			concerned = []string{"expiresAt"}
			it = maps.Clone(it)
			it["expiresAt"] = n(fmt.Sprint(now.Add(14 * 24 * time.Hour).Unix())) // MarkSeen's, without the grace
			older["notes"] = s("initial insert")
			delete(older, "claim")
			delete(older, "state")
			w.drop(older, "expiresAt", s("2026-04-12"), n("1774785601000"))
		}
		w.put(table, older)
		want[place] = maps.Clone(older)
		for _, name := range concerned {
			want[place][name] = it[name]
		}
	}
	return want
}

// drop leaves the attribute out, or gives it a value that DynamoDB's TTL ignores.
func (w *world) drop(it row, name string, useless ...types.AttributeValue) {
	if i := w.rand.IntN(len(useless) + 1); i > 0 {
		it[name] = useless[i-1]
		return
	}
	delete(it, name)
}

// ageActivity gives the row one or several of the flaws that older rows have.
func (w *world) ageActivity(it row) {
	name, stamp := text(it["activity"]), text(it["timestamp"])
	for flaws := 1 + w.rand.IntN(15); flaws > 0; flaws = flaws / 2 {
		switch w.rand.IntN(6) {
		case 0:
			delete(it, "chatUser")
		case 1:
			delete(it, "activityTimestamp")
		case 2: // unescaped
			it["activityTimestamp"] = s(name + "#" + stamp)
		case 3:
			it["chatUser"] = s(text(it["chatId"]) + "#" + text(it["userId"]))
		case 4: // in seconds
			seconds := strings.TrimSuffix(stamp, "000")
			it["timestamp"], it["activityTimestamp"] = n(seconds), s(name+"#"+seconds)
		case 5: // as a keyboard on another system writes it
			it["activity"] = s(strings.ReplaceAll(name, "ä", "a\u0308"))
		}
	}
	delete(it, "createdAt")
}
