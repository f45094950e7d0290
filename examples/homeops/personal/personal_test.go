package personal_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
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

var april = time.Date(2026, time.April, 24, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return april }

// list returns the rows of List, by table and key.
func list(t testing.TB, tool *personal.Tool, of personal.Subject) map[string]personal.Row {
	t.Helper()
	all := map[string]personal.Row{}
	if _, err := tool.List(t.Context(), of, func(r personal.Row) error {
		key := r.Table + " " + asText(t, r.Key)
		if _, twice := all[key+r.Record]; twice {
			t.Errorf("%s is listed twice", key)
		}
		if before, ok := all[key]; ok { // it loses several things
			r.Loses = append(r.Loses, before.Loses...)
		}
		all[key] = r
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func erase(t testing.TB, tool *personal.Tool, of personal.Subject) (sum int) {
	t.Helper()
	count := map[string]int{}
	if _, err := tool.Erase(t.Context(), of, count); err != nil {
		t.Fatal(err)
	}
	for _, n := range count {
		sum += n
	}
	return sum
}

// named leaves out the rows that the command calls out of reach, by the forms of
// their keys.
func named(t testing.TB, keys []string) (others []string) {
	ledger := settings(t).LedgerTable
	return slices.DeleteFunc(keys, func(key string) bool {
		return strings.HasPrefix(key, ledger+" ") && (strings.Contains(key, `"TELEGRAM:`) && strings.Contains(key, ":said") || strings.Contains(key, `"CLASSIFY:`))
	})
}

// After a person or a chat of the bundled conversation is erased, no row contains
// its number, except those that the command names. The deleted rows are those that
// were exported. All other rows are unchanged to the byte, except for what the list
// says they lose.
func TestErasuresOfTheConversation(t *testing.T) {
	t.Parallel()
	updates, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	seeded := told(t, updates+more)
	for _, of := range []personal.Subject{
		{ID: "5000000001"},
		{ID: "5000000002"},
		{ID: "5000000003"},
		{ID: "5000000004"},
		{ID: "500000000"},
		{ID: "5000000009"},
		{ID: "-1002123456789", Chat: true},
		{ID: "-4123456789", Chat: true},
		{ID: "5000000002", Chat: true},
		{ID: "-1001987654321", Chat: true},
		{ID: "-77", Chat: true},
	} {
		t.Run(fmt.Sprint(of.ID, of.Chat), func(t *testing.T) {
			t.Parallel()
			db := dynamotest.New(t, &dynamotest.Config{From: seeded, Now: clock})
			tool := on(t, db.Client(), clock)
			before := rows(t, db)
			if len(holding(before, of.ID)) == 0 {
				t.Fatalf("%s is in no rows", of.ID)
			}
			listed := list(t, tool, of)
			want := maps.Clone(before)
			for key, r := range listed {
				if mine := holding(map[string]string{key: before[key]}, of.ID); !of.Chat && len(mine) == 0 {
					t.Errorf("%s has nothing of %s", key, of.ID)
				}
				if r.Loses != nil {
					continue
				}
				var item map[string]any = r.Item
				if diff := cmp.Diff(without(t, before[key], "chats"), without(t, asText(t, item), "chats")); diff != "" {
					t.Errorf("%s is not exported as it stands: %s", key, diff)
				}
				delete(want, key)
			}
			if erase(t, tool, of) < len(listed) {
				t.Error("fewer rows are counted than listed")
			}
			after := rows(t, db)
			left := named(t, holding(after, of.ID))
			if of.Chat && of.ID[0] != '-' { // the person stays
				chat := regexp.MustCompile(`"chatId":"` + of.ID + `"|"householdId":"` + of.ID + `"|"pk":"(ALIAS|NAME|PATTERN|HOUSEHOLD|MEMBERS|DM)#` + of.ID)
				left = slices.DeleteFunc(left, func(key string) bool { return !chat.MatchString(after[key]) })
			}
			if len(left) > 0 {
				t.Errorf("%d rows hold %s:\n%s", len(left), of.ID, strings.Join(left, "\n"))
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(after))); diff != "" {
				t.Errorf("not what the list says: %s", diff)
			}
			for key, row := range after {
				loses := listed[key].Loses
				if len(loses) == 0 && row != before[key] || len(loses) > 0 && without(t, row, append(loses, "updatedAt")...) != without(t, before[key], append(loses, "updatedAt")...) {
					t.Errorf("%s was\n%s is\n%s", key, before[key], row)
				}
			}
			if n := erase(t, tool, of); n != 0 || len(list(t, tool, of)) != 0 {
				t.Errorf("again: %d rows", n)
			}
		})
	}
}

// more is what the conversation lacks: an answer to a person and a mention by others, a
// promise in private, a phrase, a name that another taught, a person whose number begins
// as another's, and a group where none of them live.
const more = `
{"update_id":1,"message":{"message_id":501,"date":1776960000,"from":{"id":5000000001,"first_name":"Anna"},"chat":{"id":-1002123456789,"type":"supergroup"},"text":"Bra!","reply_to_message":{"message_id":400,"date":1776950000,"from":{"id":5000000002,"first_name":"Bo"},"chat":{"id":-1002123456789,"type":"supergroup"},"text":"Klart"}}}
{"update_id":2,"message":{"message_id":502,"date":1776960060,"from":{"id":5000000002,"first_name":"Bo"},"chat":{"id":-1002123456789,"type":"supergroup"},"text":"Anna?","entities":[{"type":"text_mention","offset":0,"length":4,"user":{"id":5000000001,"first_name":"Anna"}}]}}
{"update_id":3,"message":{"message_id":11,"date":1776960120,"from":{"id":5000000002,"first_name":"Bo"},"chat":{"id":5000000002,"type":"private"},"text":"Jag lovar att diska i morgon"}}
{"update_id":4,"message":{"message_id":12,"date":1776960180,"from":{"id":5000000002,"first_name":"Bo"},"chat":{"id":5000000002,"type":"private"},"text":"Jag har dammsugit"}}
{"update_id":5,"message":{"message_id":13,"date":1776960240,"from":{"id":5000000002,"first_name":"Bo"},"chat":{"id":5000000002,"type":"private"},"text":"Grejat betyder diskning"}}
{"update_id":6,"message":{"message_id":503,"date":1776960300,"from":{"id":5000000002,"first_name":"Bo"},"chat":{"id":-1002123456789,"type":"supergroup"},"text":"Plockat betyder diskning"}}
{"update_id":7,"message":{"message_id":504,"date":1776960360,"from":{"id":500000000,"first_name":"Dan"},"chat":{"id":-1002123456789,"type":"supergroup"},"text":"Jag har diskat"}}
{"update_id":8,"message":{"message_id":1,"date":1776960420,"from":{"id":5000000001,"first_name":"Anna"},"chat":{"id":-77,"type":"group"},"text":"Hej"}}
{"update_id":9,"message":{"message_id":2,"date":1776960480,"from":{"id":5000000009,"first_name":"Eva"},"chat":{"id":-77,"type":"group"},"text":"Jag har städat"}}
{"update_id":10,"message":{"message_id":505,"date":1776960540,"from":{"id":5000000001,"first_name":"Anna"},"chat":{"id":-1002123456789,"type":"supergroup"},"text":"Hur var veckan?"}}
{"update_id":11,"message":{"message_id":3,"date":1776960600,"from":{"id":5000000001,"first_name":"Anna"},"chat":{"id":-77,"type":"group"},"text":"Hej","reply_to_message":{"message_id":2,"date":1776960480,"from":{"id":5000000009,"first_name":"Eva"},"chat":{"id":-77,"type":"group"},"text":"Jag har städat"}}}
`

// What the Price lines say, and what a person of a hundred messages costs.
func TestPrices(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, &dynamotest.Config{From: told(t, few), Now: clock})
	tool := on(t, db.Client(), clock)
	listing := func(of personal.Subject) dynamotest.Cost { return db.Meter(func() { list(t, tool, of) }) }
	listing(personal.Subject{ID: "99"}).Want(t, dynamotest.Price{Requests: 23, RCU: 21})
	listing(personal.Subject{ID: "99", Also: []string{"-4000"}}).Want(t, dynamotest.Price{Requests: 23 + 7, RCU: 21 + 6.5})
	listing(personal.Subject{ID: "-4000", Chat: true}).Want(t, dynamotest.Price{Requests: 15, RCU: 14.5}) // it knows by now that this chat never moved

	for seq := range int64(100) {
		if _, err := tool.App.Messages.Save(t.Context(), message.Message{Scope: "-4000", Seq: seq + 1, Actor: "99", Text: "Hej", At: april}); err != nil {
			t.Fatal(err)
		}
	}
	of := personal.Subject{ID: "99", Also: []string{"-4000"}}
	cost := db.Meter(func() {
		if n := erase(t, tool, of); n != 100 {
			t.Errorf("%d rows", n)
		}
	})
	// Two rounds: the first reads 12 KB of messages and deletes them one by one.
	cost.Want(t, dynamotest.Price{Requests: 2*29 + 100, RCU: 2*27 + 2, WCU: 100})

	// Phrases that somebody taught, 5 KB here, are read once more, for any number
	// of them.
	for i := range 20 {
		phrase := fmt.Sprint("plock", i)
		ev, err := event.New(april, "teaching", phrase)
		if err == nil {
			_, err = tool.App.Phrases.Put(t.Context(), alias.Put{Scope: "-4001", Phrase: phrase, Name: "diskning", Event: ev, Actor: "98"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db.Meter(func() {
		if n := erase(t, tool, personal.Subject{ID: "98", Also: []string{"-4001"}}); n != 20 {
			t.Errorf("%d phrases", n)
		}
	}).Want(t, dynamotest.Price{Requests: 2*29 + 1 + 1 + 20, RCU: 2*(27+1) + 0.5 + 2, WCU: 40})
}

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
