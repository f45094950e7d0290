package activity_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

// The stored form is the format: changing it is a major version.
func TestGoldenRow(t *testing.T) {
	t.Parallel()
	recorded := time.Date(2026, 3, 23, 8, 0, 2, 5_000_000, time.UTC)
	for file, tc := range map[string]struct {
		cfg activity.Config
		a   activity.Activity
	}{
		"activity.json": {activity.Config{}, chore(t, monday, 7, "diskning")},
		"activity_least.json": {
			activity.Config{ActorType: types.ScalarAttributeTypeS, Names: map[string]string{"chatId": "tenant", "userId": "account", "userName": "accountName", "messageId": "order"}},
			activity.Activity{Scope: "shop#1", Actor: "anna", Event: newEvent(t, monday, "shop#1", 7), Name: "50%"},
		},
	} {
		tc.cfg.Now = func() time.Time { return recorded }
		db, acts := open(t, &tc.cfg)
		given := tc.a
		given.At, given.CreatedAt = monday.AddDate(-1, 0, 0), monday.AddDate(-2, 0, 0) // are read only: ignored
		for _, want := range []event.Outcome{event.Created, event.Duplicate} {
			if out, err := acts.Record(t.Context(), given); out != want || err != nil {
				t.Fatal(out, err)
			}
		}
		table := acts.Table().Name
		stored, err := db.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
		if err != nil || len(stored.Items) != 1 {
			t.Fatal(stored, err)
		}
		if diff := cmp.Diff(golden.Format(golden.Item(t, "testdata/"+file)), golden.Format(stored.Items[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		for a, err := range acts.InScope(t.Context(), tc.a.Scope, activity.Range{}) {
			want := tc.a
			want.At, want.CreatedAt = monday, recorded
			if diff := cmp.Diff(want, a); err != nil || diff != "" {
				t.Errorf("%s is read with %v (-want +got):\n%s", file, err, diff)
			}
		}
	}
}

// Rows in the shapes of the TypeScript system, read without loss.
func TestGoldenOldRows(t *testing.T) {
	t.Parallel()
	want := activity.Activity{
		Scope: "-100123", Actor: "42", ActorName: "Martin", Name: "diskning", Kind: "chore", Seq: 7, Effort: 0.5, Confidence: 0.92,
		At: time.Date(2026, 2, 17, 10, 30, 0, 0, time.UTC),
	}
	for file, change := range map[string]func(*activity.Activity){
		"typescript.json":         nil,
		"typescript_seconds.json": nil,
		"typescript_phase2.json":  func(a *activity.Activity) { a.ActorName = "" }, // before activityTimestamp
		"typescript_created.json": func(a *activity.Activity) { a.CreatedAt = a.At.Add(1500 * time.Millisecond) },
	} {
		db, acts := open(t, nil)
		row := golden.Item(t, "testdata/"+file)
		recordtest.Put(t, db.Client(), acts.Table().Name, row)
		expected := want
		if change != nil {
			change(&expected)
		}
		id, err := event.Parse(row["activityId"].(*types.AttributeValueMemberS).Value)
		if err != nil {
			t.Fatal(err)
		}
		expected.Event = id
		got := collect(t, acts.InScope(t.Context(), "-100123", activity.Range{}))
		if diff := cmp.Diff([]activity.Activity{expected}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		byActor := collect(t, acts.ByActor(t.Context(), "42", activity.Range{}))
		wantSame(t, file, byActor, got)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	db, _ := open(t, nil)
	acts, err := activity.New(db.Client(), "log", &activity.Config{
		ActorType: types.ScalarAttributeTypeS, Names: map[string]string{
			"chatId": "tenant", "userId": "account", "userName": "accountName", "messageId": "order",
			"userId-timestamp-index": "by-account", "chatId-activity-index": "by-name", "chatUser-activity-index": "by-both",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := schema.Table{
		Name: "log",
		Key:  schema.Key{Partition: schema.String("tenant"), Sort: schema.String("activityId")},
		Indexes: []schema.Index{
			{Name: "by-account", Key: schema.Key{Partition: schema.String("account"), Sort: schema.Number("timestamp")}},
			{Name: "by-name", Key: schema.Key{Partition: schema.String("tenant"), Sort: schema.String("activityTimestamp")}},
			{Name: "by-both", Key: schema.Key{Partition: schema.String("chatUser"), Sort: schema.String("activityTimestamp")}},
		},
	}
	if diff := cmp.Diff(want, acts.Table()); diff != "" {
		t.Errorf("configured (-want +got):\n%s", diff)
	}
	if grants := acts.Actions(); grants.Operators["EraseActor"]["by-account"] == nil || grants.Calls["Tally"]["by-both"] == nil {
		t.Errorf("Actions = %v", grants)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	optional := map[string]bool{"Names": true, "ActorType": true, "Retention": true, "OnUnreadable": true}
	defaults := reflect.ValueOf(activity.Defaults())
	for i := range defaults.NumField() {
		if name := defaults.Type().Field(i).Name; !optional[name] && defaults.Field(i).IsZero() {
			t.Errorf("%s has no default", name)
		}
	}
	db, _ := open(t, nil)
	for want, cfg := range map[string]activity.Config{
		"Config.ActorType must be":             {ActorType: "B"},
		`Config.Names["chatId"] must be valid`: {Names: map[string]string{"chatId": "\xff"}},
		`Config.Names["userId"] must be an`:    {Names: map[string]string{"userId": strings.Repeat("x", 256)}},
		`Config.Names["messageId"] must not be "timestamp", which is the name of the attribute timestamp`: {Names: map[string]string{"messageId": "timestamp"}},
		`Config.Names["userName"] must not be "userId"`:                                                   {Names: map[string]string{"userName": "userId"}},
		`Config.Names["chatId"] must not be "retractedAt"`:                                                {Names: map[string]string{"chatId": "retractedAt"}},
		`Config.Names["userId"] must not be "ttl"`:                                                        {Names: map[string]string{"userId": "ttl"}},
		"Config.MaxSkew must be between":                                                                  {MaxSkew: -1},
		"Config.Retention must be longer":                                                                 {Retention: time.Minute},
		`Config.Names["chatId-activity-index"] must hold`:                                                 {Names: map[string]string{"chatId-activity-index": "by name"}},
		`Config.Names["chatUser-activity-index"] must not be "chatId-activity-index", which is the name of the index chatId-activity-index`: {Names: map[string]string{"chatUser-activity-index": "chatId-activity-index"}},
		`Config.Names["userId-timestamp-index"] must be a name`:                                                                             {Names: map[string]string{"userId-timestamp-index": "x"}},
	} {
		_, err := activity.New(db.Client(), "homeops-activities", &cfg)
		wantInputError(t, err, want)
	}
	_, err := activity.New(nil, "homeops-activities", nil)
	wantInputError(t, err, "api must not be nil")
	_, err = activity.New(db.Client(), "", nil)
	wantInputError(t, err, "table must be a name")

	cfg := activity.Config{Retention: 24 * time.Hour}
	if _, err := activity.New(db.Client(), "homeops-activities", &cfg); err != nil || !reflect.DeepEqual(cfg, activity.Config{Retention: 24 * time.Hour}) {
		t.Errorf("New changed the caller's Config: %+v, %v", cfg, err)
	}
}

// Law: what is recorded is read back unchanged, with its name in NFC.
func FuzzRow(f *testing.F) {
	f.Add("-100123", "42", "Martin", "diskning", "chore", int64(7), 0.5, 0.93, int64(1774252800000))
	f.Add("a#b%", "#", "", "%23", "", int64(0), math.Copysign(0, -1), 1e-130, int64(1774252800001))
	f.Add("hus", "anna", "Anna", "sta\u0308dning", "chore", int64(7), 0.5, 0.93, int64(1774252800000))
	f.Add("🏠", "anna", "Å", "disk 🍽", "\x00", int64(5), 9.87654321e125, 1.0/3, int64(100000000000))
	store, err := activity.New(struct{ activity.API }{}, "homeops-activities", &activity.Config{ActorType: types.ScalarAttributeTypeS})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, scope, actor, actorName, name, kind string, seq int64, effort, confidence float64, ms int64) {
		ev, err := event.New(time.UnixMilli(ms), "fuzz", "1")
		if err != nil {
			t.Skip() // refused input is not an event
		}
		a := activity.Activity{
			Scope: scope, Actor: actor, ActorName: actorName, Event: ev, Name: name, Kind: kind, Seq: seq,
			Effort: effort, Confidence: confidence, At: ev.Time(),
		}
		row, err := store.Encode(a)
		if err != nil {
			var bad *event.InputError
			if !errors.As(err, &bad) {
				t.Errorf("refused with %v, want an InputError", err)
			}
			return
		}
		got, err := store.Decode(row)
		got.CreatedAt, a.Name = time.Time{}, norm.NFC.String(a.Name)
		if err != nil || !cmp.Equal(got, a) {
			t.Errorf("got %+v, %v, want %+v", got, err, a)
		}
	})
}

// Law: keys of one name sort by their times, and lie within the bounds of
// exactly the periods that hold the time, also in an older system's seconds.
func FuzzKeysSortByTime(f *testing.F) {
	f.Add("diskning", int64(999_999_999_999), int64(1_000_000_000_000), int64(999_999_999_999), int64(1_000_000_000_001))
	f.Add("a#b", int64(1774252800000), int64(1774252800001), int64(1774252800000), int64(1774252801000))
	f.Add("diskning", int64(1774252800000), int64(1774252800002), int64(1774252800001), int64(1774252800500))
	f.Add("🍽", int64(1774252801000), int64(1774252800999), int64(1774252800001), int64(1774252801001))
	f.Fuzz(func(t *testing.T, name string, ms, other, from, to int64) {
		for _, x := range []int64{ms, other, from, to} {
			if x < activity.MinMillis || x > activity.MaxMillis {
				t.Skip() // such a time is not stored
			}
		}
		if less := activity.NameTime(name, ms) < activity.NameTime(name, other); less != (ms < other) {
			t.Errorf("%d and %d do not sort by time", ms, other)
		}
		idLo, idHi, lo, hi, holds := activity.Bounds(name, time.UnixMilli(from), time.UnixMilli(to))
		if key := activity.NameTime(name, ms); holds(time.UnixMilli(ms)) != (lo <= key && key <= hi) {
			t.Errorf("%d in [%d, %d): key %q, bounds %q %q", ms, from, to, key, lo, hi)
		}
		ev, err := event.New(time.UnixMilli(ms), name, "1")
		if err != nil {
			ev, err = event.New(time.UnixMilli(ms), "1")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []event.Event{recordtest.Bound(ev), ev} {
			if holds(time.UnixMilli(ms)) != (idLo <= id.String() && id.String() <= idHi) {
				t.Errorf("%d in [%d, %d): id %v, bounds %s %s", ms, from, to, id, idLo, idHi)
			}
		}
		second := time.Unix(ms/1000, 0)
		if s := second.Unix(); s > 999_999_999 { // ten digits, since 2001
			seconds := strings.TrimSuffix(activity.NameTime(name, s*1000), "000")
			if holds(second) != (lo <= seconds && seconds <= hi) {
				t.Errorf("second %d in [%d, %d): key %q, bounds %q %q", s, from, to, seconds, lo, hi)
			}
		}
	})
}
