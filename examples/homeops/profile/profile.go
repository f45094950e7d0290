// Package profile owns who people are and where they live: records of the
// application's own, in the table of the aliases and habits.
//
//	pk USER#<user>      sk PROFILE  type USER       telegramId   displayName   householdId   language   zone
//	                                                nameEvent   householdEvent   languageEvent   zoneEvent
//	                                                suggested   chats   createdAt   updatedAt
//	pk MEMBERS#<scope>  sk <user>   type MEMBER     status joined   event   updatedAt
//	pk HOUSEHOLDS       sk <scope>  type HOUSEHOLD  chatId   event   updatedAt
//
// In each row, and in each part of a profile that has an event, the later event
// wins, in any order of arrival. Parts without an event, as an older system wrote
// them, give way to any event. The profile says where somebody lives. They stay in
// a household's list when they live elsewhere.
//
// One partition lists all households. It takes 1,000 first contacts a second,
// and [Store.Households] sends a request for each MB, some 7,000 households.
//
// # IAM actions
//
//   - The service, on the table: GetItem, Query, UpdateItem
package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Profile is who somebody is.
type Profile struct {
	User           string
	Name           string
	Household      string       // the scope of the chat they live in; "" until they wrote in a group
	HouseholdEvent event.Event  // what set it; zero: an older system, which kept no members
	Language       string       // "sv" or "en"; "" if nobody said
	Zone           tzclock.Zone // zero: the household's
	CreatedAt      time.Time
	Chats          []string     // the groups they wrote in; an older version kept none
	Suggested      []Suggestion // of the last days, the earliest first
}

// Suggestion is what the bot suggested to somebody.
type Suggestion struct {
	Event    event.Event // the job's
	Activity string
}

func (s Suggestion) text() string { return s.Event.String() + " " + s.Activity }

// Change is what an event says of somebody: at least one part. Empty parts stay
// as they are.
type Change struct {
	User      string // the digits of Telegram's id
	Event     event.Event
	Name      string
	Household string
	Chat      string // the household's present one
	Language  string
	Zone      tzclock.Zone // by name
}

// Household is an entry in the list of all households.
type Household struct {
	Scope string
	Chat  string // in which the bot writes to it
}

// Store keeps profiles, members and households. It is safe for concurrent use.
type Store struct {
	api        record.API
	table      string
	now        func() time.Time
	people     *record.Rows[Profile]
	members    *record.Rows[string]
	households *record.Rows[Household]
}

// New returns a Store on the table of the aliases and habits.
func New(api record.API, table string, now func() time.Time) (*Store, error) {
	cfg := &record.Config{Now: now}
	people, err := record.New(api, table, record.Kind[Profile]{Package: "profile", Type: "USER", Decode: Decode}, cfg)
	members, _ := record.New(api, table, record.Kind[string]{Package: "profile", Type: "MEMBER", Attributes: []string{"status"}, Decode: member}, cfg)
	households, _ := record.New(api, table, record.Kind[Household]{Package: "profile", Type: "HOUSEHOLD", Attributes: []string{"chatId"}, Decode: household}, cfg)
	return &Store{api, table, now, people, members, households}, err
}

// Table returns the definition of the table.
func (s *Store) Table() schema.Table { return s.people.Table() }

// Actions returns what IAM must grant.
func (s *Store) Actions() schema.Actions {
	update := schema.Grants{"": {"UpdateItem"}}
	return schema.Actions{Calls: map[string]schema.Grants{
		"Get":        {"": {"GetItem"}},
		"Change":     update,
		"Wrote":      update,
		"Left":       update,
		"Suggest":    update,
		"Forget":     update,
		"Moved":      update,
		"Members":    {"": {"GetItem", "Query"}},
		"Lived":      {"": {"GetItem", "Query"}},
		"Households": {"": {"Query"}},
	}}
}

// Decode reads a row of type USER.
func Decode(row record.Item) (p Profile, err error) {
	f := record.Read(row)
	p = Profile{
		User: strings.TrimPrefix(f.Text("pk"), "USER#"), Name: f.Text("displayName"), Household: f.Text("householdId"),
		Language: f.Text("language"), CreatedAt: f.Time("createdAt"),
	}
	if chats, ok := row["chats"].(*types.AttributeValueMemberSS); ok {
		p.Chats = chats.Value
	}
	if zone := f.Text("zone"); zone != "" {
		p.Zone, err = tzclock.Load(zone)
	}
	if text := f.Text("householdEvent"); text != "" {
		err = errors.Join(err, p.HouseholdEvent.UnmarshalText([]byte(text)))
	}
	if noted, ok := row["suggested"].(*types.AttributeValueMemberSS); ok {
		for _, text := range slices.Sorted(slices.Values(noted.Value)) {
			ev, what, _ := strings.Cut(text, " ")
			one := Suggestion{Activity: what}
			err = errors.Join(err, one.Event.UnmarshalText([]byte(ev)))
			p.Suggested = append(p.Suggested, one)
		}
	}
	return p, errors.Join(err, f.Err())
}

// Get returns the profile; ok is false if it does not exist.
//
// Price: 1 request, 0.5 RCU.
func (s *Store) Get(ctx context.Context, user string) (_ Profile, ok bool, _ error) {
	return s.people.Get(ctx, record.Key("USER", user), "PROFILE")
}

// Change changes parts of the profile, and creates it on first contact. A part that
// a later event has set stays. Before the profile says where somebody lives, the
// household is in the list of all, and has them in its list of members.
//
// Price: 1 request, 1 WCU. For each part; a household adds 2 requests and 2 WCU.
func (s *Store) Change(ctx context.Context, c Change) error {
	if c.Household != "" {
		err := s.Moved(ctx, c.Household, c.Chat, c.Event)
		if err == nil {
			err = unlessLater(s.members.Set(ctx, record.Set{
				Partition: record.Key("MEMBERS", c.Household), Sort: c.User, Event: c.Event,
				Values: record.Item{"status": record.Text("joined")},
			}))
		}
		if err != nil {
			return err
		}
	}
	zone, err := c.Zone.MarshalText()
	if err != nil {
		return err
	}
	for _, part := range []struct{ attribute, event, value string }{
		{"displayName", "nameEvent", c.Name},
		{"language", "languageEvent", c.Language},
		{"zone", "zoneEvent", string(zone)},
		{"householdId", "householdEvent", c.Household}, // last: it says that the rest is done
	} {
		if part.value == "" {
			continue
		}
		id, created := expression.Name("telegramId"), expression.Name("createdAt")
		up := expression.Set(expression.Name("type"), expression.Value("USER")).
			Set(id, expression.IfNotExists(id, expression.Value(&types.AttributeValueMemberN{Value: c.User}))).
			Set(created, expression.IfNotExists(created, expression.Value(record.Time(c.Event.Time())))).
			Set(expression.Name(part.attribute), expression.Value(part.value)).
			Set(expression.Name(part.event), expression.Value(c.Event.String()))
		if err := s.update(ctx, c.User, up, ifBefore(part.event, c.Event)); err != nil {
			return err
		}
	}
	return nil
}

// Wrote notes a group that somebody wrote in, so that it can be found by the
// person.
//
// Price: 1 request, 1 WCU.
func (s *Store) Wrote(ctx context.Context, user, chat string) error {
	up := expression.Add(expression.Name("chats"), setOf(chat)).Set(expression.Name("type"), expression.Value("USER"))
	return s.update(ctx, user, up, expression.Not(expression.Name("chats").Contains(chat)))
}

// Left removes an erased group from somebody's profile, which then says that they
// wrote nothing in it and do not live there. It does not create a profile.
//
// Price: 2 requests, 2 WCU.
func (s *Store) Left(ctx context.Context, user, chat string) error {
	home, set := expression.Name("householdId"), expression.Delete(expression.Name("chats"), setOf(chat))
	return cmp.Or(
		s.update(ctx, user, expression.Remove(home).Remove(expression.Name("householdEvent")), home.Equal(expression.Value(chat))),
		s.update(ctx, user, set, expression.Name("chats").Contains(chat)),
	)
}

func setOf(text string) expression.ValueBuilder {
	return expression.Value(&types.AttributeValueMemberSS{Value: []string{text}})
}

// ifBefore is the condition that the attribute is absent, or holds an event before
// this one.
func ifBefore(attribute string, ev event.Event) expression.ConditionBuilder {
	name := expression.Name(attribute)
	return name.AttributeNotExists().Or(name.LessThan(expression.Value(ev.String())))
}

// Suggest notes what is suggested to somebody, before it is said. It does not create
// a profile.
//
// Price: 1 request, 1 WCU. A profile above 1 KB costs 1 WCU for each KB.
func (s *Store) Suggest(ctx context.Context, user string, what Suggestion) error {
	noted := expression.Name("suggested")
	return s.update(ctx, user, expression.Add(noted, setOf(what.text())),
		expression.Name("pk").AttributeExists().And(expression.Not(noted.Contains(what.text()))))
}

// Forget removes the note of a suggestion.
//
// Price: 1 request, 1 WCU. That of Suggest.
func (s *Store) Forget(ctx context.Context, user string, what Suggestion) error {
	noted := expression.Name("suggested")
	return s.update(ctx, user, expression.Delete(noted, setOf(what.text())), noted.Contains(what.text()))
}

// update changes a profile, unless the condition refuses.
func (s *Store) update(ctx context.Context, user string, up expression.UpdateBuilder, may expression.ConditionBuilder) error {
	up = up.Set(expression.Name("updatedAt"), expression.Value(record.Time(s.now())))
	expr, err := expression.NewBuilder().WithUpdate(up).WithCondition(may).Build()
	if err != nil {
		return err
	}
	_, err = s.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:        aws.String(s.table),
		Key:              record.Item{"pk": record.Text(record.Key("USER", user)), "sk": record.Text("PROFILE")},
		UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	})
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused || err == nil {
		return nil
	}
	return fmt.Errorf("profile: UpdateItem on table %s: %w", s.table, err)
}

// Moved notes the chat in which the bot writes to a household. Telegram's times
// are whole seconds: in one second, the chat that it moved to wins.
//
// Price: 1 request, 1 WCU.
func (s *Store) Moved(ctx context.Context, scope, chat string, ev event.Event) error {
	rank := 0
	if chat != scope {
		rank = 1
	}
	return unlessLater(s.households.Set(ctx, record.Set{
		Partition: "HOUSEHOLDS", Sort: scope, Event: ev, Rank: rank, Values: record.Item{"chatId": record.Text(chat)},
	}))
}

// unlessLater returns the error, except the one that says that a later event
// has set the row.
func unlessLater(_ event.Outcome, err error) error {
	if errors.Is(err, event.ErrSuperseded) {
		return nil
	}
	return err
}

// Members returns the people who live in the household, in the order of their
// ids as numbers.
//
// Price: 2 requests, 1 RCU. 1 request and 0.5 RCU for each person who lives
// there or did, and 0.5 RCU for each 28 of them.
func (s *Store) Members(ctx context.Context, household string) ([]Profile, error) {
	all, err := s.Lived(ctx, household)
	return slices.DeleteFunc(all, func(p Profile) bool { return p.Household != household }), err
}

// Lived returns the people who live in the household or did, in the order of their
// ids as numbers.
//
// Price: 2 requests, 1 RCU. That of Members.
func (s *Store) Lived(ctx context.Context, household string) (all []Profile, _ error) {
	users, err := s.members.All(ctx, record.Key("MEMBERS", household))
	for _, user := range users {
		p, ok, bad := s.Get(ctx, user)
		err = cmp.Or(err, bad)
		if ok {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Profile) int {
		return cmp.Or(cmp.Compare(len(a.User), len(b.User)), cmp.Compare(a.User, b.User))
	})
	return all, err
}

func member(row record.Item) (user string, _ error) {
	f := record.Read(row)
	return f.Text("sk"), f.Err()
}

// Households returns all, by scope.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB, some 28 households, and 1
// request for each MB.
func (s *Store) Households(ctx context.Context) ([]Household, error) {
	return s.households.All(ctx, "HOUSEHOLDS")
}

func household(row record.Item) (Household, error) {
	f := record.Read(row)
	return Household{Scope: f.Text("sk"), Chat: f.Text("chatId")}, f.Err()
}
