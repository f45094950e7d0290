// Package week owns the sums of a household's week: how much more load one of
// two people has carried, and a summary for each person. Load is the effort of
// chores minus that of recovery. What a guest did counts for nobody.
//
//	pk HOUSEHOLD#<household>   sk BALANCE#USER#<a>#USER#<b>#2026-W13, a < b as numbers
//	   type BALANCE  user1Id  user2Id  period  netLoad1  netLoad2  delta  createdAt  updatedAt  version
//	pk USER#<user>             sk SUMMARY#2026-W13
//	   type SUMMARY  period  householdId  choresCount  recoveryCount  netLoad  fairnessScore  highlights
//	   createdAt  updatedAt  version
//
// Balances are not in an index. An index by user1Id would find a person's balances
// only if theirs is the smaller number; one Query of the household finds all.
//
// # Why no outdated row is the last word
//
// [Store.Recompute] reads the rows, then lists the week's activities, then writes
// each row on condition that its version is still the one that was read. It writes
// a row even if its values are right. Suppose that it began after the last change
// of the activities. Its write gives the row a version that nobody had read before.
// Any later writer of the row has read this version or a later one, and has then
// listed the same activities. A refused write returns the existing row, which then
// counts as read. All of this holds for rows that nobody deletes.
//
// # IAM actions
//
//   - The service, on the table: GetItem, Query, UpdateItem
//
// Recompute lists activities, too: see [activity.Store.Actions].
package week

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Balance is how much more load one of two people has carried in a week.
type Balance struct {
	Household  string
	A, B       string // user ids, A the smaller number
	Period     string // 2026-W13
	NetA, NetB float64
}

// Delta is how much more A carried than B.
func (b Balance) Delta() float64 { return b.NetA - b.NetB }

// Summary is one person's week, in the household for which it was last computed.
type Summary struct {
	User             string
	Household        string // "" in a row of an older system
	Period           string
	Chores, Recovery int // how many of each
	Net              float64
	Fairness         float64  // 1 for an even share of the effort of chores; 0 for all of it
	Highlights       []string // up to three, the most frequent first: "diskning 5"
}

// Store keeps balances and summaries. It is safe for concurrent use.
type Store struct {
	api      record.API
	balances *record.Rows[Balance]
	stand    *record.Rows[record.Item] // of both, read consistently
	acts     *activity.Store
	zone     tzclock.Zone
	now      func() time.Time
}

// New returns a Store on the table of the aliases and habits.
func New(api record.API, table string, acts *activity.Store, zone tzclock.Zone, now func() time.Time) (*Store, error) {
	asItIs := func(row record.Item) (record.Item, error) { return row, nil }
	balances, err := record.New(api, table, record.Kind[Balance]{Package: "week", Type: "BALANCE", Decode: decodeBalance}, nil)
	stand, _ := record.New(api, table, record.Kind[record.Item]{Package: "week", Type: "SUMMARY", Decode: asItIs}, &record.Config{ConsistentReads: true})
	return &Store{api, balances, stand, acts, zone, now}, err
}

// Table returns the definition of the table.
func (s *Store) Table() schema.Table { return s.stand.Table() }

// Actions returns what IAM must grant on the table.
func (s *Store) Actions() schema.Actions {
	return schema.Actions{Calls: map[string]schema.Grants{
		"Recompute": {"": {"GetItem", "UpdateItem"}},
		"Summary":   {"": {"GetItem"}},
		"Balance":   {"": {"GetItem"}},
		"Balances":  {"": {"Query"}},
	}}
}

// Period is the ISO week of the day, as 2026-W13.
func Period(d tzclock.Date) string {
	year, week := d.ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, week)
}

// DecodeSummary reads a row of type SUMMARY.
func DecodeSummary(row record.Item) (Summary, error) {
	f := record.Read(row)
	s := Summary{
		User: strings.TrimPrefix(f.Text("pk"), "USER#"), Household: f.Text("householdId"), Period: f.Text("period"),
		Chores: int(f.Int("choresCount")), Recovery: int(f.Int("recoveryCount")),
		Net: f.Float("netLoad"), Fairness: f.Float("fairnessScore"),
	}
	return s, cmp.Or(f.Err(), attributevalue.Unmarshal(row["highlights"], &s.Highlights))
}

func decodeBalance(row record.Item) (Balance, error) {
	f := record.Read(row)
	return Balance{
		Household: strings.TrimPrefix(f.Text("pk"), "HOUSEHOLD#"), Period: f.Text("period"),
		A: f.Text("user1Id"), B: f.Text("user2Id"), NetA: f.Float("netLoad1"), NetB: f.Float("netLoad2"),
	}, f.Err()
}

// Balances returns the balances of a household, of all weeks.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB, some 16 balances; 1 request for
// each MB.
func (s *Store) Balances(ctx context.Context, household string) ([]Balance, error) {
	return s.balances.All(ctx, record.Key("HOUSEHOLD", household))
}

// Balance returns the balance of two people in a week such as 2026-W13; a must be
// the smaller number. ok is false if it does not exist.
//
// Price: 1 request, 0.5 RCU.
func (s *Store) Balance(ctx context.Context, household, a, b, period string) (_ Balance, ok bool, _ error) {
	return s.balances.Get(ctx, record.Key("HOUSEHOLD", household), record.Key("BALANCE", "USER", a, "USER", b, period))
}

// Summary returns the summary of somebody's week; ok is false if it does not
// exist.
//
// Price: 1 request, 1 RCU.
func (s *Store) Summary(ctx context.Context, user, period string) (one Summary, ok bool, _ error) {
	row, ok, err := s.stand.Get(ctx, record.Key("USER", user), record.Key("SUMMARY", period))
	if ok {
		one, err = DecodeSummary(row)
	}
	return one, ok && err == nil, err
}

// Recompute asks for a week.
type Recompute struct {
	Household string
	Members   []string  // more than 16 get no balances, which are for every two of them
	Of        time.Time // any time in the week
	// Former are members only if the week was last computed for this household with
	// them, as that of somebody who has moved out since.
	Former []string
}

// Recompute brings the week's rows up to date with its activities, and returns the
// members' summaries in the order of Members, then Former. It may be repeated at any time, also
// after an error. What is recorded or taken back while it runs may be left to the
// next Recompute. The error is record.ErrContended if other writers won one of the
// rows in each of 16 attempts.
//
// Price: 7 requests, 4 RCU, 3 WCU. In 3 round trips, with two members and 4 KB of
// activities. For n members there are r = n + n·(n−1)/2 rows: r requests and RCU
// to read them, 1 request for each MB and 1 RCU for each 4 KB of the week, r
// requests and WCU to write. Each attempt that other writers won adds the price of
// the week and of the writing. 1 request and 1 RCU for each of Former.
func (s *Store) Recompute(ctx context.Context, r Recompute) ([]Summary, error) {
	r.Members = slices.Clone(r.Members)
	for _, user := range r.Former {
		one, ok, err := s.Summary(ctx, user, Period(s.zone.Date(r.Of)))
		if err != nil {
			return nil, err
		}
		if ok && one.Household == r.Household {
			r.Members = append(r.Members, user)
		}
	}
	rows := rowsOf(s.blank(r)) // for their keys
	seen, won := make([]record.Item, len(rows)), make([]bool, len(rows))
	each := func(do func(i int) error) error {
		var group errgroup.Group
		for i := range rows {
			group.Go(func() error { return do(i) })
		}
		return group.Wait()
	}
	if err := each(func(i int) (err error) {
		f := record.Read(rows[i])
		seen[i], _, err = s.stand.Get(ctx, f.Text("pk"), f.Text("sk"))
		return err
	}); err != nil {
		return nil, err
	}
	for try := range 16 {
		week, err := s.list(ctx, r)
		if err != nil {
			return nil, err
		}
		rows = rowsOf(week)
		if err := each(func(i int) (err error) {
			seen[i], won[i], err = s.write(ctx, rows[i], seen[i])
			return err
		}); err != nil {
			return nil, err
		}
		if !slices.Contains(won, false) {
			return week, nil
		}
		most := uint64(10*time.Millisecond) << min(try, 6)
		if err := sleep.For(ctx, time.Duration(new(maphash.Hash).Sum64()%most)); err != nil { // its seed is random
			return nil, err
		}
	}
	return nil, fmt.Errorf("week: Recompute on table %s: %w", s.Table().Name, record.ErrContended)
}

// blank is the week before anybody has done anything.
func (s *Store) blank(r Recompute) (week []Summary) {
	for _, user := range r.Members {
		week = append(week, Summary{User: user, Household: r.Household, Period: Period(s.zone.Date(r.Of))})
	}
	return week
}

// list sums the week up in the order of its keys: the sums do not depend on the
// order in which the activities arrived. The Limit makes the first page large,
// too.
func (s *Store) list(ctx context.Context, r Recompute) ([]Summary, error) {
	week, effort, all, times := s.blank(r), make([]float64, len(r.Members)), 0.0, make([]map[string]int, len(r.Members))
	from, to := s.zone.Week(r.Of)
	for a, err := range s.acts.InScope(ctx, r.Household, activity.Range{From: from, To: to, Consistent: true, Limit: math.MaxInt32}) {
		if err != nil {
			return nil, err
		}
		i := slices.Index(r.Members, a.Actor)
		switch {
		case i < 0: // a guest
			continue
		case a.Kind == classify.Chore:
			week[i].Chores++
			week[i].Net += a.Effort
			effort[i] += a.Effort
			all += a.Effort
		case a.Kind == classify.Recovery:
			week[i].Recovery++
			week[i].Net -= a.Effort
		default:
			continue
		}
		if times[i] == nil {
			times[i] = map[string]int{}
		}
		times[i][a.Name]++
	}
	for i := range week {
		week[i].Fairness, week[i].Highlights = fairness(effort[i], all, len(week)), highlights(times[i])
	}
	return week, nil
}

// fairness is 1 − |share − 1/n|·n/(n−1), in a form whose ends are exactly 0 and 1.
// It is 1 for somebody who lives alone, and when nobody did a chore.
func fairness(effort, all float64, people int) float64 {
	if people == 1 || all <= 0 {
		return 1
	}
	n, share := float64(people), min(max(effort/all, 0), 1)
	return 1 - math.Abs(n*share-1)/(n-1)
}

func highlights(times map[string]int) (top []string) {
	names := slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(times[b]-times[a], cmp.Compare(a, b)) })
	for _, name := range names[:min(3, len(names))] {
		top = append(top, fmt.Sprintf("%s %d", name, times[name]))
	}
	return top
}

// rowsOf returns the rows of the summaries and of the balances of every two people.
// More than 16 people have no balances.
func rowsOf(week []Summary) (rows []record.Item) {
	for _, w := range week {
		top := &types.AttributeValueMemberL{}
		for _, one := range w.Highlights {
			top.Value = append(top.Value, record.Text(one))
		}
		rows = append(rows, record.Item{
			"pk": record.Text(record.Key("USER", w.User)), "sk": record.Text(record.Key("SUMMARY", w.Period)), "type": record.Text("SUMMARY"),
			"period": record.Text(w.Period), "householdId": record.Text(w.Household),
			"choresCount": record.Int(int64(w.Chores)), "recoveryCount": record.Int(int64(w.Recovery)),
			"netLoad": record.Float(w.Net), "fairnessScore": record.Float(w.Fairness), "highlights": top,
		})
	}
	people := slices.SortedFunc(slices.Values(week), func(a, b Summary) int { // as text, 10 comes before 9
		return cmp.Or(cmp.Compare(len(a.User), len(b.User)), cmp.Compare(a.User, b.User))
	})
	if len(people) > 16 {
		people = nil
	}
	for i, a := range people {
		for _, b := range people[i+1:] {
			rows = append(rows, record.Item{
				"pk": record.Text(record.Key("HOUSEHOLD", a.Household)), "sk": record.Text(record.Key("BALANCE", "USER", a.User, "USER", b.User, a.Period)),
				"type": record.Text("BALANCE"), "period": record.Text(a.Period), "user1Id": record.Text(a.User), "user2Id": record.Text(b.User),
				"netLoad1": record.Float(a.Net), "netLoad2": record.Float(b.Net), "delta": record.Float(a.Net - b.Net),
			})
		}
	}
	return rows
}

// write replaces the row that was seen, unless it has changed, and returns the
// row as it is then.
func (s *Store) write(ctx context.Context, row, seen record.Item) (stands record.Item, won bool, _ error) {
	version, now := expression.Name("version"), expression.Value(record.Time(s.now()))
	unchanged := version.AttributeNotExists()
	if seen["version"] != nil {
		unchanged = version.Equal(expression.Value(seen["version"]))
	}
	update := expression.Add(version, expression.Value(1)).Set(expression.Name("updatedAt"), now).
		Set(expression.Name("createdAt"), expression.Name("createdAt").IfNotExists(now))
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if name != "pk" && name != "sk" {
			update = update.Set(expression.Name(name), expression.Value(row[name]))
		}
	}
	expr, err := expression.NewBuilder().WithUpdate(update).WithCondition(unchanged).Build()
	if err != nil {
		return nil, false, err
	}
	out, err := s.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(s.Table().Name), Key: record.Item{"pk": row["pk"], "sk": row["sk"]},
		UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return refused.Item, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("week: Recompute on table %s: %w", s.Table().Name, err)
	}
	return out.Attributes, true, nil
}
