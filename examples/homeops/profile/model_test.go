package profile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func put(t *testing.T, db *dynamotest.DB, item ddb.Item) { t.Helper(); putIn(t, db, "homeops", item) }

func putIn(t *testing.T, db *dynamotest.DB, table string, item ddb.Item) {
	t.Helper()
	if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item}); err != nil {
		t.Fatal(err)
	}
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
			must(t, schema.Create(t.Context(), db.Client(), s.Table()))
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
