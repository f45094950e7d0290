package personal

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/record"
)

type item = map[string]types.AttributeValue

// place is a group of rows that are read together.
type place struct {
	record, table string
	each          func(context.Context, func(item) error) error
	loses         func(item) (attributes []string, stays bool) // no attributes: the row is deleted
	erase         func(context.Context) (int, error)           // its package's call, if all rows are deleted
	drop          func(context.Context, item) error            // its package's call for what a row loses
}

// at returns a partition of a table, or of an index.
func (t *Tool) at(rec, table, index, attribute string, value types.AttributeValue) place {
	in := &dynamodb.QueryInput{
		TableName: aws.String(table), ConsistentRead: aws.Bool(index == ""), KeyConditionExpression: aws.String("#partition = :partition"),
		ExpressionAttributeNames: map[string]string{"#partition": attribute}, ExpressionAttributeValues: item{":partition": value},
	}
	if index != "" {
		in.IndexName = aws.String(index)
	}
	goes := func(item) ([]string, bool) { return nil, false }
	return place{record: rec, table: table, loses: goes, each: func(ctx context.Context, do func(item) error) error {
		pages := dynamodb.NewQueryPaginator(t.DB, in)
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, row := range page.Items {
				if err := do(row); err != nil {
					return err
				}
			}
		}
		return nil
	}}
}

func (t *Tool) ofChat(rec, table, chat string) place {
	return t.at(rec, table, "", "chatId", record.Text(chat))
}

func (t *Tool) homeops(rec string, key ...string) place {
	return t.at(rec, t.Config.HomeopsTable, "", "pk", record.Text(record.Key(key...)))
}

// owned returns the place with the call of its package that erases all of it,
// by a key.
func (p place) owned(erase func(context.Context, string) (int, error), key string) place {
	p.erase = func(ctx context.Context) (int, error) { return erase(ctx, key) }
	return p
}

// only returns the place without the rows for which goes is false: they stay.
func (p place) only(goes func(item) bool) place {
	p.loses = func(row item) ([]string, bool) { return nil, !goes(row) }
	return p
}

func (t *Tool) habits(scope, user string) place {
	return t.homeops("habit", "PATTERN", scope, user).owned(func(ctx context.Context, user string) (int, error) {
		return t.App.Habits.Erase(ctx, scope, user)
	}, user)
}

// places returns all rows of the subject, in the order in which they are
// deleted.
func (t *Tool) places(ctx context.Context, of Subject) (all []place, chats []string, err error) {
	if of.Chat {
		if chats, err = t.joined(ctx, of.ID); err == nil {
			all, err = t.chat(ctx, chats)
		}
		return all, chats, err
	}
	if chats, err = t.chatsOf(ctx, of); err != nil {
		return nil, nil, err
	}
	for _, chat := range chats {
		all = append(all, t.inChat(chat, of.ID)...)
	}
	private, err := t.chat(ctx, []string{of.ID})
	toBot := "USER#" + of.ID + "#toBot"
	done := t.at("activity", t.Config.ActivitiesTable, "userId-timestamp-index", "userId", &types.AttributeValueMemberN{Value: of.ID})
	return slices.Concat(all, private, []place{
		t.homeops("effort", "EFFORT", of.ID).owned(t.App.Effort.Erase, of.ID),
		t.homeops("preference", "PREF", of.ID).owned(t.App.Prefs.Erase, of.ID),
		t.ofChat("count", t.Config.CountersTable, toBot).owned(t.App.Limits.Erase, toBot),
		done.owned(t.App.Activities.EraseActor, of.ID),
		t.homeops("person", "USER", of.ID),
	}), chats, err
}

// inChat returns the rows that a chat has of a person.
func (t *Tool) inChat(chat, id string) []place {
	names, phrases := t.homeops("name", "NAME", chat), t.homeops("phrase", "ALIAS", chat)
	phrases.loses = func(row item) ([]string, bool) { return []string{"learnedFrom"}, str(row, "learnedFrom") != id }
	names.loses = func(row item) ([]string, bool) {
		if str(row, "canonicalActivity") == id {
			return nil, false
		}
		return phrases.loses(row)
	}
	phrases.drop, names.drop = disown(t.App.Phrases, chat, id), disown(t.App.Names, chat, id)
	mine := regexp.MustCompile(`(^|[^-0-9])` + id + `([^0-9]|$)`) // 42, and neither 420 nor -42
	messages := t.ofChat("message", t.Config.MessagesTable, chat)
	messages.loses = func(row item) ([]string, bool) {
		if str(row, "userId") == id {
			return nil, false
		}
		return []string{"raw"}, !mine.MatchString(str(row, "raw"))
	}
	messages.drop = func(ctx context.Context, row item) error {
		seq, err := strconv.ParseInt(str(row, "messageId"), 10, 64)
		return cmp.Or(err, t.App.Messages.DropRaw(ctx, chat, seq))
	}
	return []place{
		t.habits(chat, id), names, phrases, messages,
		t.homeops("balance", "HOUSEHOLD", chat).only(func(row item) bool { return strings.Contains(str(row, "sk"), "#USER#"+id+"#") }),
		t.homeops("member", "MEMBERS", chat).only(func(row item) bool { return str(row, "sk") == id }),
	}
}

// disown makes a chat forget which phrases somebody taught: all of them at the
// first.
func disown(book *alias.Store, chat, id string) func(context.Context, item) error {
	done := false
	return func(ctx context.Context, _ item) error {
		if done {
			return nil
		}
		_, err := book.Disown(ctx, chat, id)
		done = err == nil
		return err
	}
}

// chat returns all rows of a chat, which has had one id or two.
func (t *Tool) chat(ctx context.Context, ids []string) (all []place, _ error) {
	var leading, moves, households []place
	users := map[string]bool{}
	for _, id := range ids {
		all = append(all, t.ofChat("count", t.Config.CountersTable, id).owned(t.App.Limits.Erase, id),
			t.ofChat("count", t.Config.CountersTable, id+"#answers").owned(t.App.Limits.Erase, id+"#answers"),
			t.homeops("phrase", "ALIAS", id).owned(t.App.Phrases.Erase, id), t.homeops("name", "NAME", id).owned(t.App.Names.Erase, id),
			t.homeops("balance", "HOUSEHOLD", id), t.homeops("private", "DM", id))
		leading = append(leading, t.ofChat("activity", t.Config.ActivitiesTable, id).owned(t.App.Activities.Erase, id),
			t.ofChat("message", t.Config.MessagesTable, id).owned(t.App.Messages.Erase, id), t.homeops("member", "MEMBERS", id))
		moves = append(moves, t.homeops("moved", "CHAT", id))
		households = append(households, t.homeops("household", "HOUSEHOLDS").only(func(row item) bool { return str(row, "sk") == id }))
	}
	for _, p := range leading {
		if err := p.each(ctx, func(row item) error {
			users[cmp.Or(str(row, "userId"), str(row, "sk"))] = true
			return nil
		}); err != nil {
			return nil, err
		}
	}
	delete(users, "") // of messages that nobody sent
	for _, user := range slices.Sorted(maps.Keys(users)) {
		for _, id := range ids {
			all = append(all, t.habits(id, user), t.ofPerson(user, id))
		}
	}
	return slices.Concat(all, leading, moves, households), nil // a household's row leads from one id to the other
}

// ofPerson returns the rows that a person has of a chat.
func (t *Tool) ofPerson(user, chat string) place {
	p := t.homeops("person", "USER", user)
	p.loses = func(row item) (attributes []string, stays bool) {
		lives := str(row, "householdId") == chat
		if str(row, "sk") != "PROFILE" {
			return nil, !lives && str(row, "chatId") != chat
		}
		if lives {
			attributes = []string{"householdId", "householdEvent"}
		}
		if wrote, ok := row["chats"].(*types.AttributeValueMemberSS); ok && slices.Contains(wrote.Value, chat) {
			attributes = append(attributes, "chats")
		}
		return attributes, attributes == nil
	}
	p.drop = func(ctx context.Context, _ item) error { return t.App.Profiles.Left(ctx, user, chat) }
	return p
}
