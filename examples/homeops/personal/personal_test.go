package personal_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/personal"
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
