package profile_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

const home = "-1002123456789"

var noon = time.Date(2026, 2, 18, 11, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

func open(t *testing.T) (*dynamotest.DB, *profile.Store, string) {
	t.Helper()
	return openOn(t, dynamotest.Open(t, pricetest.Watch))
}

func openOn(t *testing.T, db *dynamotest.DB) (*dynamotest.DB, *profile.Store, string) {
	t.Helper()
	table := db.Name("homeops")
	s := store(t, db, table)
	db.Create(s.Table())
	return db, s, table
}

func store(t *testing.T, db *dynamotest.DB, table string) *profile.Store {
	t.Helper()
	s, err := profile.New(db.Client(), table, clock)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at returns the event of so many minutes after noon; a negative number is
// before noon.
func at(t testing.TB, minutes int) event.Event {
	t.Helper()
	return recordtest.Event(t, noon.Add(time.Duration(minutes)*time.Minute), "telegram", home, fmt.Sprint(minutes))
}

func change(t *testing.T, s *profile.Store, c profile.Change) {
	t.Helper()
	if err := s.Change(t.Context(), c); err != nil {
		t.Errorf("Change(%+v): %v", c, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func wantProfile(t *testing.T, s *profile.Store, want profile.Profile) {
	t.Helper()
	got, ok, err := s.Get(t.Context(), want.User)
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b tzclock.Zone) bool { return a == b })); err != nil || !ok || diff != "" {
		t.Errorf("%v, %v (-want +got):\n%s", ok, err, diff)
	}
}

func wantMembers(t *testing.T, s *profile.Store, want ...string) {
	t.Helper()
	all, err := s.Members(t.Context(), home)
	var got []string
	for _, p := range all {
		got = append(got, p.User)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func wantHouseholds(t *testing.T, s *profile.Store, want ...profile.Household) {
	t.Helper()
	got, err := s.Households(t.Context())
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestTheItems(t *testing.T) {
	t.Parallel()
	db, s, table := open(t)
	if p, ok, err := s.Get(t.Context(), "5001"); ok || err != nil {
		t.Errorf("before anything: %+v, %v", p, err)
	}
	wantMembers(t, s)
	wantHouseholds(t, s)
	change(t, s, profile.Change{User: "5001", Event: at(t, -2), Name: "Anna", Household: home, Chat: home, Language: "sv"})
	change(t, s, profile.Change{User: "5001", Event: at(t, -1), Zone: tzclock.Stockholm})
	change(t, s, profile.Change{User: "5001", Event: at(t, -2), Name: "Anna", Household: home, Chat: home, Language: "sv"})
	golden.Want(t, db.Client(), table, "testdata/profile.json", "pk", "sk")
	golden.Want(t, db.Client(), table, "testdata/member.json", "pk", "sk")
	golden.Want(t, db.Client(), table, "testdata/household.json", "pk", "sk")
}

// A row of the older system has no events: any event sets its parts, and what no
// event names stays.
func TestRowsOfTheOlderSystem(t *testing.T) {
	t.Parallel()
	db, s, table := open(t)
	golden.Put(t, db.Client(), table, "testdata/typescript.json")
	want := profile.Profile{User: "42", Name: "Mats", Household: "h1", CreatedAt: time.Date(2026, 2, 17, 9, 0, 0, 0, time.UTC)}
	wantProfile(t, s, want)
	change(t, s, profile.Change{User: "42", Event: at(t, 0), Household: home, Chat: home})
	want.Household, want.HouseholdEvent = home, at(t, 0)
	wantProfile(t, s, want)
}

// A suggestion is noted once, and forgotten without the others.
func TestSuggested(t *testing.T) {
	t.Parallel()
	db, s, _ := open(t)
	one, two := profile.Suggestion{Event: at(t, 1), Activity: "ta ut soporna"}, profile.Suggestion{Event: at(t, 2), Activity: "tvätt"}
	must(t, s.Suggest(t.Context(), "5001", one))
	must(t, s.Forget(t.Context(), "5001", one))
	if _, ok, err := s.Get(t.Context(), "5001"); ok || err != nil {
		t.Errorf("a profile of nothing but that: %v", err)
	}
	change(t, s, profile.Change{User: "5001", Event: at(t, 0), Name: "Anna"})
	want := profile.Profile{User: "5001", Name: "Anna", CreatedAt: noon, Suggested: []profile.Suggestion{one, two}}
	for _, noted := range []profile.Suggestion{two, one, two} {
		must(t, s.Suggest(t.Context(), "5001", noted))
	}
	wantProfile(t, s, want)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	must(t, s.Forget(t.Context(), "5001", one))
	want.Suggested = want.Suggested[1:]
	wantProfile(t, s, want)
}

// A message in the group may have the same second as the first one in the
// supergroup that it became.
func TestInOneSecondTheNewChatWins(t *testing.T) {
	t.Parallel()
	const super = "-1009"
	for _, order := range [][]string{{home, super}, {super, home}} {
		for _, ids := range [][]string{{"1", "2"}, {"2", "1"}} {
			_, s, _ := open(t)
			for i, chat := range order {
				ev, err := event.New(noon, "telegram", ids[i])
				must(t, err)
				must(t, s.Moved(t.Context(), home, chat, ev))
			}
			wantHouseholds(t, s, profile.Household{Scope: home, Chat: super})
		}
	}
}

// Members are read to the last page. Somebody who lives elsewhere by now is not
// a member.
func TestMembersOfALargeHousehold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, &dynamotest.Config{Now: clock})
		s := store(t, db, "homeops")
		db.Create(s.Table())
		var want []string
		long := strings.Repeat("x", 300_000) // of another writer: a page holds three such rows
		for i := range 12 {
			user := fmt.Sprint(95 + i)
			change(t, s, profile.Change{Household: home, Chat: home, User: user, Event: at(t, 0)})
			item := golden.Item(t, "testdata/member.json")
			item["sk"], item["note"] = record.Text(user), record.Text(long)
			recordtest.Put(t, db.Client(), "homeops", item)
			want = append(want, user)
		}
		change(t, s, profile.Change{Household: "-7", Chat: "-7", User: "100", Event: at(t, 1)})
		want = append(want[:5], want[6:]...)
		if cost := db.Meter(func() { wantMembers(t, s, want...) }); cost.Requests < 12+3 {
			t.Errorf("%d pages", cost.Requests)
		}
	})
}

// A household needs a scope and a chat, its members need ids, by which they are
// ordered, and an event must not lie in the future.
func TestBadInputIsRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	db, s, _ := open(t)
	own, err := tzclock.In(time.FixedZone("own", 3600))
	must(t, err)
	ctx := t.Context()
	for name, tc := range map[string]struct {
		field string
		err   func() error
	}{
		"a location": {"zone", func() error { return s.Change(ctx, profile.Change{User: "5001", Event: at(t, 0), Zone: own}) }},
		"ahead": {"Event", func() error {
			return s.Change(ctx, profile.Change{User: "5001", Event: at(t, 62), Household: home, Chat: home})
		}},
		"moved from": {"Sort", func() error { return s.Moved(ctx, "", home, at(t, 0)) }},
		"members":    {"partition", func() error { _, err := s.Members(ctx, ""); return err }},
		"of nobody":  {"partition", func() error { _, _, err := s.Get(ctx, ""); return err }},
	} {
		var err error
		cost := db.Meter(func() { err = tc.err() })
		if bad, ok := errors.AsType[*event.InputError](err); !ok || bad.Field != tc.field {
			t.Errorf("%s: got %v, want an InputError of %s", name, err, tc.field)
		}
		cost.Want(t, dynamotest.Price{})
	}
}

func TestRowsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for attribute, value := range map[string]string{"zone": "Europe/Nowhere", "householdEvent": "1", "createdAt": "once"} {
		db, s, table := open(t)
		item := golden.Item(t, "testdata/profile.json")
		item[attribute] = record.Text(value)
		recordtest.Put(t, db.Client(), table, item)
		if p, ok, err := s.Get(t.Context(), "5001"); err == nil || ok || !strings.HasPrefix(err.Error(), "profile: Get on table "+table+": ") {
			t.Errorf("%s %q: %+v, %v, %v", attribute, value, p, ok, err)
		}
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	db, s, _ := open(t)
	change(t, s, profile.Change{User: "5001", Event: at(t, 0), Household: home, Chat: home})
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Store.Change", Call: func(ctx context.Context) error {
			return s.Change(ctx, profile.Change{User: "5001", Event: at(t, 0), Name: "Anna"})
		}},
		{Func: "Store.Get", Call: func(ctx context.Context) error { _, _, err := s.Get(ctx, "5001"); return err }},
		{Func: "Store.Suggest", Call: func(ctx context.Context) error {
			return s.Suggest(ctx, "5001", profile.Suggestion{Event: at(t, 0), Activity: "diskning"})
		}},
		{Func: "Store.Forget", Call: func(ctx context.Context) error {
			return s.Forget(ctx, "5001", profile.Suggestion{Event: at(t, 0), Activity: "diskning"})
		}},
		{Func: "Store.Wrote", Call: func(ctx context.Context) error { return s.Wrote(ctx, "5001", home) }},
		{Func: "Store.Left", Call: func(ctx context.Context) error { return s.Left(ctx, "5001", home) }},
		{Func: "Store.Moved", Call: func(ctx context.Context) error { return s.Moved(ctx, home, "-5", at(t, 1)) }},
		{Func: "Store.Members", Call: func(ctx context.Context) error { _, err := s.Members(ctx, home); return err }},
		{Func: "Store.Lived", Call: func(ctx context.Context) error { _, err := s.Lived(ctx, home); return err }},
		{Func: "Store.Households", Call: func(ctx context.Context) error { _, err := s.Households(ctx); return err }},
	}, s)
}

// After Left somebody has not written in the erased group and does not live there.
// What they have with another group stays.
func TestWroteAndLeft(t *testing.T) {
	t.Parallel()
	_, s, _ := open(t)
	for range 2 {
		must(t, s.Wrote(t.Context(), "5001", home))
		must(t, s.Wrote(t.Context(), "5001", "-7"))
	}
	change(t, s, profile.Change{User: "5001", Event: at(t, 0), Household: home, Chat: home})
	want := profile.Profile{User: "5001", Household: home, HouseholdEvent: at(t, 0), CreatedAt: noon, Chats: []string{home, "-7"}}
	wantProfile(t, s, want)
	must(t, s.Left(t.Context(), "5001", "-7"))
	want.Chats = []string{home}
	wantProfile(t, s, want)
	for range 2 {
		must(t, s.Left(t.Context(), "5001", home))
	}
	wantProfile(t, s, profile.Profile{User: "5001", CreatedAt: noon})
	must(t, s.Left(t.Context(), "5002", home))
	if p, ok, err := s.Get(t.Context(), "5002"); ok || err != nil {
		t.Errorf("a profile was made: %+v, %v", p, err)
	}
}

// Each part has its price, even if it stays because a later event has set it.
func TestPriceOfAChangeInPart(t *testing.T) {
	t.Parallel()
	db, s, _ := openOn(t, dynamotest.New(t, nil)) // no other server says what a refused condition costs
	change(t, s, profile.Change{User: "5001", Event: at(t, 1), Name: "Anna"})
	both := profile.Change{User: "5001", Event: at(t, 0), Name: "Ann", Language: "en"}
	for range 2 {
		db.Meter(func() { change(t, s, both) }).Want(t, dynamotest.Price{Requests: 2, WCU: 2})
		wantProfile(t, s, profile.Profile{User: "5001", Name: "Anna", Language: "en", CreatedAt: noon.Add(time.Minute)})
	}
	all := profile.Change{User: "5001", Event: at(t, 2), Name: "Ann", Language: "en", Zone: tzclock.Stockholm, Household: home, Chat: home}
	db.Meter(func() { change(t, s, all) }).Want(t, dynamotest.Price{Requests: 6, WCU: 6})
}

// said is one thing that an event says: of a profile, or of a household's chat.
type said struct {
	minute int
	change profile.Change // with a part, or:
	moved  string
}

func (a said) do(t *testing.T, s *profile.Store) {
	t.Helper()
	if a.moved != "" {
		must(t, s.Moved(t.Context(), home, a.moved, at(t, a.minute)))
		return
	}
	must(t, s.Change(t.Context(), a.change))
}

func anything(t *testing.T, r *rand.Rand, minute int) said {
	a := said{minute: minute}
	if r.IntN(5) == 0 {
		a.moved = fmt.Sprint("-", minute)
	}
	a.change = profile.Change{User: fmt.Sprint(5001 + r.IntN(2)), Event: at(t, minute), Name: fmt.Sprint("n", minute)}
	parts := r.IntN(16)
	if parts&1 != 0 {
		a.change.Household, a.change.Chat = []string{home, "-7"}[r.IntN(2)], fmt.Sprint("-", minute)
	}
	if parts&2 != 0 {
		a.change.Language = []string{"sv", "en"}[r.IntN(2)]
	}
	if parts&4 != 0 {
		a.change.Zone = []tzclock.Zone{tzclock.Stockholm, tzclock.MustLoad("Asia/Tokyo")}[r.IntN(2)]
	}
	if parts&8 != 0 && parts != 8 {
		a.change.Name = ""
	}
	return a
}

// world is the state by the model: each part is what the latest event said.
type world struct {
	profiles map[string]profile.Profile
	chat     string
}

func model(all []said) world {
	w := world{profiles: map[string]profile.Profile{}}
	inOrder := slices.SortedFunc(slices.Values(all), func(a, b said) int { return a.minute - b.minute })
	for _, a := range inOrder {
		if a.moved != "" {
			w.chat = a.moved
			continue
		}
		p := w.profiles[a.change.User]
		p.User = a.change.User
		if a.change.Name != "" {
			p.Name = a.change.Name
		}
		if a.change.Household != "" {
			p.Household, p.HouseholdEvent = a.change.Household, a.change.Event
		}
		if a.change.Household == home {
			w.chat = a.change.Chat
		}
		if a.change.Language != "" {
			p.Language = a.change.Language
		}
		if a.change.Zone != (tzclock.Zone{}) {
			p.Zone = a.change.Zone
		}
		w.profiles[p.User] = p
	}
	return w
}

// Changes arrive in any order and more than once, with requests and replies
// lost on the way: each part ends as its latest event said.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 13))
			db := dynamotest.New(t, &dynamotest.Config{Now: clock})
			s := store(t, db, "homeops")
			db.Create(s.Table())
			var all []said
			for i := range 3 + r.IntN(20) {
				all = append(all, anything(t, r, i))
			}
			arrivals := append(slices.Clone(all), all[:r.IntN(len(all))]...)
			r.Shuffle(len(arrivals), func(i, j int) { arrivals[i], arrivals[j] = arrivals[j], arrivals[i] })
			first := map[string]event.Event{}
			for _, a := range arrivals {
				switch r.IntN(4) {
				case 0:
					db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
				case 1:
					db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem"})
				}
				a.do(t, s)
				if _, made := first[a.change.User]; a.moved == "" && !made {
					first[a.change.User] = a.change.Event
				}
			}
			want := model(all)
			var members []string
			for _, user := range []string{"5001", "5002"} {
				if p, ok := want.profiles[user]; ok {
					p.CreatedAt = first[user].Time()
					wantProfile(t, s, p)
				}
				if want.profiles[user].Household == home {
					members = append(members, user)
				}
			}
			wantMembers(t, s, members...)
			list, err := s.Households(t.Context())
			if i := slices.IndexFunc(list, func(h profile.Household) bool { return h.Scope == home }); err != nil || i < 0 != (want.chat == "") || i >= 0 && list[i].Chat != want.chat {
				t.Errorf("households %v, %v, want %s in %q", list, err, home, want.chat)
			}
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
		})
	}
}
