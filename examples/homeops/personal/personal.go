// Package personal lists and erases what is stored about one person, or of one
// chat, by the keys that lead to it: no table is scanned. README.md says what goes,
// what loses a part and what is not reached.
//
// What leads to other rows goes last: messages and activities lead to the people of a
// chat, activities and the profile to the chats of a person, a household's row to what
// the chat was before. So an erasure that broke off finds the rest when it is begun
// anew. A row goes only while it still says whose it is. What is written meanwhile makes
// new rows: [Tool.Erase] goes round until it finds nothing, through all chats it knows.
//
// # IAM actions
//
//   - Operators, on all tables but the ledger: BatchWriteItem, DeleteItem, GetItem,
//     Query, UpdateItem; on index userId-timestamp-index: Query
package personal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/record"
)

// Subject is whom or what it is about.
type Subject struct {
	ID   string   // of a person, or of a chat
	Chat bool     // it is a chat
	Also []string // of a person: chats to look through besides those that lead from them
}

// Row is one that goes, or loses something. Numbers are text, with all their digits.
type Row struct {
	Table  string         `json:"table"`
	Record string         `json:"record"`
	Key    map[string]any `json:"key"`
	Loses  []string       `json:"loses,omitempty"` // attributes; without any the row goes
	Item   map[string]any `json:"item,omitempty"`  // of a row that goes
}

// Tool does it.
type Tool struct {
	DB     *dynamodb.Client
	App    *app.App
	Config config.Config
}

// List gives each row that Erase would change, once and in its order, and returns the
// chats that it looked through.
//
// Price: 23 requests, 21 RCU. Of a person without a chat. Each chat adds 7 requests and
// 6.5 RCU; a chat by itself has 16 and 15 RCU, and 2 of each for each of its people. A
// query has 1 RCU for each 4 KB that it reads: all messages, phrases, names and balances
// of a chat; messages and activities of one that goes, or is private, twice.
func (t *Tool) List(ctx context.Context, of Subject, do func(Row) error) (chats []string, _ error) {
	places, chats, err := t.places(ctx, of)
	if err != nil {
		return chats, err
	}
	seen := map[string]bool{}
	for _, p := range places {
		if err := p.each(ctx, func(row item) error {
			loses, stays := p.loses(row)
			r := Row{Table: p.table, Record: p.record, Loses: loses}
			err := decode(t.key(p.table, row), &r.Key)
			id := fmt.Sprint(r)
			if err != nil || stays || seen[id] {
				return err
			}
			if seen[id] = true; loses == nil {
				err = decode(row, &r.Item)
			}
			return cmp.Or(err, do(r))
		}); err != nil {
			return chats, err
		}
	}
	return chats, nil
}

func decode(row item, to *map[string]any) error {
	return attributevalue.UnmarshalMapWithOptions(row, to, func(o *attributevalue.DecoderOptions) { o.UseNumber = true })
}

// Erase erases until it finds nothing more, counts the rows by record, and returns the
// chats that it looked through. After an error what is counted is gone: look through
// these chats, too, when you begin anew.
//
// Price: that of List in each round, of which the last finds nothing. 1 WCU for each KB
// of a row that changes, and of its entries in indexes; 1 request for each, but for rows
// that a package erases as a whole, 25 with each. Where the person taught phrases of a
// chat, or names, these are read once more.
func (t *Tool) Erase(ctx context.Context, of Subject, count map[string]int) (chats []string, _ error) {
	for range 10 {
		places, found, err := t.places(ctx, of)
		if err != nil {
			return chats, err
		}
		if chats = found; !of.Chat {
			of.Also = found
		}
		sum := 0
		for _, p := range places {
			n, err := t.erase(ctx, p)
			if sum += n; n > 0 {
				count[p.record] += n
			}
			if err != nil {
				return chats, err
			}
		}
		if sum == 0 {
			return chats, nil
		}
	}
	return chats, errors.New("personal: new rows are written all the time")
}

func (t *Tool) erase(ctx context.Context, p place) (n int, _ error) {
	if p.erase != nil {
		return p.erase(ctx)
	}
	err := p.each(ctx, func(row item) error {
		loses, stays := p.loses(row)
		if stays {
			return nil
		}
		if n++; loses != nil {
			return p.drop(ctx, row)
		}
		return t.remove(ctx, p.table, row)
	})
	return n, err
}

// remove deletes a row, unless it is another's by now.
func (t *Tool) remove(ctx context.Context, table string, row item) error {
	key := t.key(table, row)
	same := expression.Name(slices.Sorted(maps.Keys(key))[0]).AttributeExists()
	for _, name := range []string{"userId", "canonicalActivity", "householdId"} {
		if row[name] != nil {
			same = same.And(expression.Name(name).Equal(expression.Value(row[name])))
		}
	}
	expr, err := expression.NewBuilder().WithCondition(same).Build()
	if err != nil {
		return err
	}
	_, err = t.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: aws.String(table), Key: key, ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	})
	if _, changed := errors.AsType[*types.ConditionalCheckFailedException](err); changed {
		return nil
	}
	return err
}

// joined are chats with what they were before and what they became.
func (t *Tool) joined(ctx context.Context, chats ...string) ([]string, error) {
	all := map[string]bool{}
	households, err := t.App.Profiles.Households(ctx)
	for _, chat := range chats {
		scope, bad := t.App.Moves.Scope(ctx, chat)
		err, all[chat], all[scope] = cmp.Or(err, bad), true, true
	}
	for _, h := range households {
		if all[h.Scope] || all[h.Chat] {
			all[h.Scope], all[h.Chat] = true, true
		}
	}
	return slices.Sorted(maps.Keys(all)), err
}

// chatsOf are the chats that lead from a person, but for the one in private.
func (t *Tool) chatsOf(ctx context.Context, of Subject) ([]string, error) {
	p, _, err := t.App.Profiles.Get(ctx, of.ID)
	chats := slices.Concat(of.Also, p.Chats, []string{p.Household})
	for a, bad := range t.App.Activities.ByActor(ctx, of.ID, activity.Range{}) {
		err, chats = cmp.Or(err, bad), append(chats, a.Scope)
	}
	promises, bad := t.App.Promises.Of(ctx, of.ID, time.Time{})
	for _, p := range promises {
		chats = append(chats, p.Household, p.Chat)
	}
	if err := cmp.Or(err, bad); err != nil {
		return nil, err
	}
	return t.joined(ctx, slices.DeleteFunc(chats, func(chat string) bool { return chat == "" || chat == of.ID })...)
}

func (t *Tool) key(table string, row item) item {
	names := map[string][2]string{
		t.Config.MessagesTable: {"chatId", "messageId"}, t.Config.ActivitiesTable: {"chatId", "activityId"},
		t.Config.CountersTable: {"chatId", "date"}, t.Config.HomeopsTable: {"pk", "sk"},
	}[table]
	return item{names[0]: row[names[0]], names[1]: row[names[1]]}
}

func str(row item, name string) string { return record.Read(row).Text(name) }
