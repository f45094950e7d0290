package personal_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/personal"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/record"
)

// few has two people, one's number the beginning of the other's, in a group that
// moved, in private, and in a group where they do not live.
const few = `
{"update_id":1,"message":{"message_id":1,"date":1776950000,"from":{"id":5042,"first_name":"Anna"},"chat":{"id":-4,"type":"group"},"text":"Jag har diskat"}}
{"update_id":2,"message":{"message_id":2,"date":1776950060,"from":{"id":50420,"first_name":"Bo"},"chat":{"id":-4,"type":"group"},"text":"Jag har diskat"}}
{"update_id":3,"message":{"message_id":3,"date":1776950120,"from":{"id":50420,"first_name":"Bo"},"chat":{"id":-4,"type":"group"},"migrate_to_chat_id":-1005042}}
{"update_id":4,"message":{"message_id":1,"date":1776950180,"from":{"id":50420,"first_name":"Bo"},"chat":{"id":-1005042,"type":"supergroup"},"text":"Ja","reply_to_message":{"message_id":2,"date":1,"from":{"id":5042},"chat":{"id":-4},"text":"?"}}}
{"update_id":5,"message":{"message_id":2,"date":1776950240,"from":{"id":5042,"first_name":"Anna"},"chat":{"id":-1005042,"type":"supergroup"},"text":"Fixat betyder diskning"}}
{"update_id":6,"message":{"message_id":3,"date":1776950300,"from":{"id":5042,"first_name":"Anna"},"chat":{"id":-1005042,"type":"supergroup"},"text":"Jag lovar att diska i morgon"}}
{"update_id":7,"message":{"message_id":4,"date":1776950360,"from":{"id":5042,"first_name":"Anna"},"chat":{"id":-1005042,"type":"supergroup"},"text":"Hur var veckan?"}}
{"update_id":8,"message":{"message_id":1,"date":1776950420,"from":{"id":5042,"first_name":"Anna"},"chat":{"id":5042,"type":"private"},"text":"Jag har städat"}}
{"update_id":9,"message":{"message_id":2,"date":1776950480,"from":{"id":50420,"first_name":"Bo"},"chat":{"id":-5042,"type":"group"},"text":"Hej"}}
{"update_id":10,"message":{"message_id":3,"date":1776950540,"from":{"id":5042,"first_name":"Anna"},"chat":{"id":-5042,"type":"group"},"text":"Jag har dammsugit"}}
`

// An erasure that died at any write, and is repeated, ends like one that did
// not die.
func TestKilledAtEachWrite(t *testing.T) {
	t.Parallel()
	for _, of := range []personal.Subject{{ID: "5042"}, {ID: "50420"}, {ID: "-1005042", Chat: true}, {ID: "-4", Chat: true}, {ID: "-1", Chat: true}} {
		seeded := told(t, few)
		if of.ID == "-1" { // sorts before the id that it became, -4 after it
			seeded = told(t, strings.ReplaceAll(few, `"id":-4,`, `"id":-1,`))
		}
		db := dynamotest.New(t, &dynamotest.Config{From: seeded, Now: clock})
		erase(t, on(t, db.Client(), clock), of)
		want := rows(t, db)
		if left := named(t, holding(want, of.ID)); len(left) > 0 {
			t.Errorf("%s is in %q", of.ID, left)
		}
		dying := dynamodb.New(db.Client().Options(), func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		for write := 1; ; write++ {
			db.Server().Restore(seeded)
			left := write
			for _, op := range []string{"UpdateItem", "DeleteItem", "BatchWriteItem"} {
				db.Inject(dynamotest.Fault{Op: op, Times: -1, Do: dynamotest.After(func() {
					if left--; left == 0 {
						db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Times: -1})
					}
				})})
			}
			_, err := on(t, dying, clock).Erase(t.Context(), of, map[string]int{})
			db.Tap().Heal()
			if left > 0 {
				if write < 10 || err != nil {
					t.Errorf("%s: %d writes, %v", of.ID, write-1, err)
				}
				break
			}
			if err == nil {
				t.Fatalf("%s, write %d: it did not die", of.ID, write)
			}
			erase(t, on(t, db.Client(), clock), of)
			if diff := cmp.Diff(want, rows(t, db)); diff != "" {
				t.Errorf("%s died at write %d: %s", of.ID, write, diff)
			}
		}
	}
}

// Rows that are written while it runs are deleted in its next round, in every chat
// it knows. Rows that belong to somebody else by then stay.
func TestLiveWrites(t *testing.T) {
	t.Parallel()
	seeded := told(t, few)
	for at := 1; at <= 40; at += 3 {
		db := dynamotest.New(t, &dynamotest.Config{From: seeded, Now: clock})
		bot, now := on(t, db.Client(), clock), april.Add(-time.Hour)
		db.Inject(dynamotest.Fault{Op: "Query", Nth: at, Do: dynamotest.Before(func() {
			for _, update := range []string{
				`{"update_id":21,"message":{"message_id":9,"date":1777000000,"from":{"id":5042,"first_name":"Anna"},"chat":{"id":-1005042,"type":"supergroup"},"text":"Jag har diskat"}}`,
				`{"update_id":22,"message":{"message_id":9,"date":1777000060,"from":{"id":50420,"first_name":"Bo"},"chat":{"id":-1005042,"type":"supergroup"},"text":"Jag har diskat"}}`,
			} {
				tell(t, bot, update, &now)
			}
		})})
		erase(t, on(t, db.Client(), clock), personal.Subject{ID: "5042"})
		if left := named(t, holding(rows(t, db), "5042")); len(left) > 0 {
			t.Errorf("written before query %d, and left: %q", at, left)
		}
		if m, ok, err := bot.App.Messages.Get(context.Background(), "-1005042", 1); !ok || err != nil || m.Raw != "" || m.Text != "Ja" {
			t.Errorf("%+v, %t, %v", m, ok, err)
		}
	}
}

// A name was the person's when it was found, and is another's by the time it would
// be deleted.
func TestWhatIsAnothersByThenStays(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, &dynamotest.Config{From: told(t, few), Now: clock})
	bot := on(t, db.Client(), clock)
	db.Inject(dynamotest.Fault{Op: "DeleteItem", Key: record.Item{"pk": record.Text("NAME#-4")}, Do: dynamotest.Before(func() {
		ev, err := event.New(april, "telegram", "-4", "99")
		if err == nil {
			_, err = bot.App.Names.Correct(t.Context(), alias.Correct{Scope: "-4", Phrase: "anna", Name: "50420", Event: ev, Actor: "50420"})
		}
		if err != nil {
			t.Error(err)
		}
	})})
	erase(t, on(t, db.Client(), clock), personal.Subject{ID: "5042"})
	if name, ok, err := bot.App.Names.Get(t.Context(), "-4", "anna"); !ok || err != nil || name.Name != "50420" {
		t.Errorf("%+v, %t, %v", name, ok, err)
	}
	if left := named(t, holding(rows(t, db), "5042")); len(left) > 0 {
		t.Error(left)
	}
}

// An erasure beside a writer that never stops gives up, and says why.
func TestSomebodyWritesOnAndOn(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, &dynamotest.Config{From: told(t, few), Now: clock})
	bot, seq := on(t, db.Client(), clock), int64(100)
	db.Inject(dynamotest.Fault{Op: "DeleteItem", Times: -1, Do: dynamotest.Before(func() {
		seq++
		if _, err := bot.App.Messages.Save(context.Background(), message.Message{Scope: "-4", Seq: seq, Actor: "5042", At: april}); err != nil {
			t.Error(err)
		}
	})})
	chats, err := on(t, db.Client(), clock).Erase(t.Context(), personal.Subject{ID: "5042"}, map[string]int{})
	if err == nil || !strings.Contains(err.Error(), "new rows were found at each of 10 tries") || len(chats) != 3 {
		t.Errorf("%v, %v", chats, err)
	}
	db.Heal()
	erase(t, bot, personal.Subject{ID: "5042", Also: chats})
	if left := named(t, holding(rows(t, db), "5042")); len(left) > 0 {
		t.Error(left)
	}
}
