package proof_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/message"
)

// Erasures, and the updates that complete rows of older systems, beside calls that
// write the same row meanwhile.

// erasing is a call that erases.
func erasing(name string, do func(context.Context, process) (int, error)) call {
	return call{name, func(ctx context.Context, p process) string {
		_, err := do(ctx, p)
		return finished(err, activity.ErrNotFound)
	}}
}

// finished is the answer to a call that says nothing.
func finished(err error, final ...error) string {
	if err == nil {
		return "done"
	}
	return answer(0, err, final...)
}

// filling completes the row with this key.
func filling(table string, key row, of func(process) func(row) (*dynamodb.UpdateItemInput, bool, error)) call {
	return call{"Backfill", func(ctx context.Context, p process) string {
		got, err := p.api.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)})
		if err != nil || got.Item == nil {
			return finished(err)
		}
		update, ok, err := of(p)(got.Item)
		if err == nil && ok {
			_, err = p.api.UpdateItem(ctx, update)
		}
		if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
			err = nil // changed meanwhile
		}
		return finished(err)
	}}
}

// anew deletes a row of actor 7, as TTL does, and then actor 8 has it.
func anew(table string, key row, then call) call {
	return call{"Anew", func(ctx context.Context, p process) string {
		_, err := p.api.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &table, Key: key, ConditionExpression: aws.String("userId = :seven"), ExpressionAttributeValues: row{":seven": number(7)},
		})
		if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); err != nil && !refused {
			return ""
		}
		return then.do(ctx, p)
	}}
}

// othersStay is the rule of the erasure of an actor: the rows of others stay.
func othersStay(was, is rows, now time.Time) error {
	for key, old := range was {
		if str(old, "userId") == "8" && is[key] == nil && now.Add(clockOff).Unix() < num(old, "ttl") {
			return errors.New("what is another's was erased")
		}
	}
	return nil
}

func TestEraseActivity(t *testing.T) {
	log := func(p process) *activity.Store {
		return must(activity.New(p.api, "activities", &activity.Config{Now: p.now, Retention: 24 * time.Hour}))
	}
	ev := at(dawn, 1)
	record := func(actor string) call {
		return call{"Record" + actor, func(ctx context.Context, p process) string {
			out, err := log(p).Record(ctx, activity.Activity{Scope: "chat", Actor: actor, Event: ev, Name: "a"})
			if _, ok := errors.AsType[*activity.ConflictError](err); ok {
				return "conflict"
			}
			return answer(out, err, activity.ErrRetracted)
		}}
	}
	retract := call{"Tombstone", func(ctx context.Context, p process) string {
		return answer(log(p).Retract(ctx, activity.Retract{Scope: "chat", Event: ev, Tombstone: true}))
	}}
	eraseActor := erasing("EraseActor", func(ctx context.Context, p process) (int, error) { return log(p).EraseActor(ctx, "7") })
	eraseScope := erasing("Erase", func(ctx context.Context, p process) (int, error) { return log(p).Erase(ctx, "chat") })
	deleteEvent := erasing("DeleteEvent", func(ctx context.Context, p process) (int, error) { return 0, log(p).DeleteEvent(ctx, "chat", ev) })
	key := row{"chatId": text("chat"), "activityId": text(ev.String())}
	older := maps.Clone(key)
	maps.Copy(older, row{"activity": text("a"), "timestamp": number(dawn.UnixMilli()), "userId": number(7)})
	backfill := filling("activities", key, func(p process) func(row) (*dynamodb.UpdateItemInput, bool, error) { return log(p).Backfill })
	s := &suite{
		table: log(nobody).Table(), differs: []string{"createdAt", "retractedAt"}, serial: true, step: othersStay,
		starts: []starting{{name: "absent"}, {name: "recorded", seeds: before(record("7"))}, {name: "of an older system", rows: []row{older}}},
		calls: [][]call{
			{eraseActor, record("7")},
			{eraseActor, anew("activities", key, record("8"))},
			{eraseScope, retract},
			{deleteEvent, record("7")},
			{deleteEvent, retract},
			{backfill, retract},
			{backfill, deleteEvent},
		},
	}
	s.prove(t)
}

func TestEraseMessage(t *testing.T) {
	messages := func(p process) *message.Store {
		return must(message.New(p.api, "messages", &message.Config{Now: p.now, Retention: 24 * time.Hour, ActorIndex: true}))
	}
	save := func(actor string) call {
		return call{"Save" + actor, func(ctx context.Context, p process) string {
			return answer(messages(p).Save(ctx, message.Message{Scope: "chat", Seq: 1, Actor: actor, Text: actor, At: start.Add(-time.Hour), Raw: "{}"}))
		}}
	}
	eraseActor := erasing("EraseActor", func(ctx context.Context, p process) (int, error) { return messages(p).EraseActor(ctx, "7") })
	dropRaw := erasing("DropRaw", func(ctx context.Context, p process) (int, error) { return 0, messages(p).DropRaw(ctx, "chat", 1) })
	s := &suite{
		table: messages(nobody).Table(), differs: []string{"createdAt"}, serial: true, step: othersStay,
		starts: []starting{{name: "absent"}, {name: "saved", seeds: before(save("7"))}},
		calls: [][]call{
			{eraseActor, save("7")},
			{eraseActor, anew("messages", row{"chatId": text("chat"), "messageId": number(1)}, save("8"))},
			{eraseActor, dropRaw},
			{dropRaw, save("7")},
		},
	}
	s.prove(t)
}

func TestEraseCounter(t *testing.T) {
	day := start.Truncate(24 * time.Hour)
	key := row{"chatId": text("chat"), "date": text(day.Format(time.DateOnly))}
	erase := erasing("Erase", func(ctx context.Context, p process) (int, error) { return limits(p).Erase(ctx, "chat") })
	backfill := filling("limits", key, func(p process) func(row) (*dynamodb.UpdateItemInput, bool, error) { return limits(p).Backfill })
	older := maps.Clone(key)
	older["count"] = number(1)
	s := counters(day, true, [][]call{{erase, take(day, 1)}, {backfill, take(day, 1)}, {backfill, erase}})
	s.starts = []starting{{name: "absent"}, {name: "held", seeds: before(take(day, 2))}, {name: "of an older system", rows: []row{older}}}
	s.told = nil
	s.step = func(_, is rows, _ time.Time) error {
		if _, r := entries(is); r != nil && r["count"] == nil {
			return fmt.Errorf("a row without a count: %v", r)
		}
		return nil
	}
	s.prove(t)
}

// movesWhole is the rule of older spellings: the row stays as it is, or becomes the row
// of the phrase, which had none.
func movesWhole(was, is rows) error {
	const phrase, spelled = "ALIAS#home diska", "ALIAS#home DISKA"
	old, left := was[spelled], is[spelled]
	if old != nil && left == nil && was[phrase] == nil {
		left = row{}
		maps.Copy(left, is[phrase])
		left["sk"] = old["sk"]
	}
	if !reflect.DeepEqual(old, left) {
		return fmt.Errorf("the older row %v became %v", old, left)
	}
	return nil
}

func TestBackfillAlias(t *testing.T) {
	book := func(p process) *alias.Store {
		return must(alias.New(p.api, "book", &alias.Config{Now: p.now, NoCache: true}))
	}
	named := func(name string, n int, do func(context.Context, *alias.Store, event.Event) (event.Outcome, error)) call {
		return call{name, func(ctx context.Context, p process) string {
			out, err := do(ctx, book(p), at(dawn, n))
			if _, ok := errors.AsType[*alias.TakenError](err); ok {
				return "taken"
			}
			return answer(out, err, alias.ErrNotFound)
		}}
	}
	teach := func(n int, actor, name string) call {
		return named("Correct"+actor, n, func(ctx context.Context, s *alias.Store, ev event.Event) (event.Outcome, error) {
			return s.Correct(ctx, alias.Correct{Scope: "home", Phrase: "diska", Name: name, Event: ev, Actor: actor})
		})
	}
	confirm := named("Confirm", 50, func(ctx context.Context, s *alias.Store, ev event.Event) (event.Outcome, error) {
		return s.Confirm(ctx, alias.Confirm{Scope: "home", Phrase: "diska", Name: "x", Event: ev})
	})
	put := named("Put", 10, func(ctx context.Context, s *alias.Store, ev event.Event) (event.Outcome, error) {
		return s.Put(ctx, alias.Put{Scope: "home", Phrase: "diska", Name: "x", Event: ev, Actor: "1"})
	})
	disown := erasing("Disown", func(ctx context.Context, p process) (int, error) { return book(p).Disown(ctx, "home", "1") })
	spelled := row{"pk": text("ALIAS#home"), "sk": text("DISKA")}
	failed := func(reason types.CancellationReason) bool {
		return aws.ToString(reason.Code) == "ConditionalCheckFailed"
	}
	backfill := call{"Backfill", func(ctx context.Context, p process) string {
		got, err := p.api.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("book"), Key: spelled, ConsistentRead: aws.Bool(true)})
		if err != nil || got.Item == nil {
			return finished(err)
		}
		move, ok, err := book(p).Backfill(got.Item)
		if err == nil && ok {
			_, err = p.api.TransactWriteItems(ctx, move)
		}
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok && slices.ContainsFunc(cancelled.CancellationReasons, failed) {
			err = nil // changed meanwhile, or the phrase has a row
		}
		return finished(err)
	}}
	older := maps.Clone(spelled)
	maps.Copy(older, row{"type": text("ALIAS"), "canonicalActivity": text("x"), "gsi1pk": text("ALIASES_BY_ACTIVITY#home"), "gsi1sk": text("x"), "source": text("seed"), "confirmations": number(0)})
	s := &suite{
		table: book(nobody).Table(), differs: []string{"createdAt", "updatedAt"}, serial: true,
		starts: []starting{{name: "absent"}, {name: "taught", seeds: before(teach(5, "1", "x"))}, {name: "of an older spelling", rows: []row{older}}},
		calls:  [][]call{{disown, teach(40, "2", "y")}, {disown, confirm}, {backfill, confirm}, {backfill, put}, {backfill, backfill.again()}, {backfill, teach(40, "2", "y")}},
		step: func(was, is rows, _ time.Time) error {
			old, r := was["ALIAS#home diska"], is["ALIAS#home diska"]
			if str(old, "learnedFrom") == "2" && str(r, "learnedFrom") != "2" && str(r, "namedBy") == str(old, "namedBy") {
				return errors.New("another's teaching was forgotten")
			}
			return movesWhole(was, is)
		},
	}
	s.prove(t)
}
