// Package personal lists and erases what is stored about one person or of one chat.
// It finds the rows by their keys, and scans no table. README.md of homeops says
// which rows are deleted, which lose a part and which are not reached.
//
// Rows that lead to other rows are deleted last: messages and activities lead to
// the people of a chat, activities and the profile to the chats of a person, a
// household's row to the id that the chat had before. So an erasure that broke off
// finds the rest when it is repeated. A row is deleted only if it still names the
// same owner. Others may write new rows meanwhile: [Tool.Erase] repeats its round
// through all chats it knows until it finds nothing.
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

// Subject is the person or the chat whose rows are listed or erased.
type Subject struct {
	ID   string   // of the person or the chat
	Chat bool     // it is a chat
	Also []string // for a person: chats to look through, too
}

// Row is a row that is deleted, or loses something. Its numbers are text, with all
// their digits.
type Row struct {
	Table  string         `json:"table"`
	Record string         `json:"record"`
	Key    map[string]any `json:"key"`
	Loses  []string       `json:"loses,omitempty"` // attributes; without any the row is deleted
	Item   map[string]any `json:"item,omitempty"`  // of a row that is deleted
}

// Tool lists and erases rows.
type Tool struct {
	DB     *dynamodb.Client
	App    *app.App
	Config config.Config
}

// List calls do with each row that Erase would change, once and in the order of
// Erase, and returns the chats that it looked through.
//
// Price: 23 requests, 21 RCU. For a person without a chat; each chat adds 7
// requests and 6.5 RCU. A chat costs 16 requests and 15 RCU, and each of its people
// 2 of both. A query costs 1 RCU for each 4 KB that it reads. All messages,
// phrases, names and balances of a chat are read; the messages and activities of a
// chat that is erased, or is private, are read twice.
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

// Erase erases until it finds nothing more, counts the rows by record, and returns
// the chats that it looked through. After an error the counted rows are erased. To
// go on, call it again, with these chats in Also.
//
// Price: that of List in each round; the last round finds nothing. Each row that
// changes costs 1 WCU for each KB, of the row and of its entries in indexes, and 1
// request. Rows that a package erases as a whole go 25 to a request, except activities. If the person
// taught phrases or names of a chat, these are read once more.
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
	return chats, errors.New("personal: new rows were found at each of 10 tries: try again")
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

// remove deletes a row, unless it has another owner by now.
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

// joined returns the chats, with the ids that they had before and have now.
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

// chatsOf returns the chats that a person's rows lead to, except the private
// one.
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
