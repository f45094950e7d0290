package message_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/record"
)

// Every call gives the same answers and rows in a table of other names.
func TestOtherNames(t *testing.T) {
	t.Parallel()
	golden.WithOtherNames(t, golden.Renamed(t, "message", "userId-timestamp-index"), func(t testing.TB, names map[string]string, note func(...any)) (*dynamodb.Client, string) {
		e := open(t, message.Config{Names: names, ActorIndex: true, Retention: 20 * 365 * 24 * time.Hour})
		ctx := t.Context()
		m := said(1, "42", 5)
		m.ActorName, m.Raw, m.Data = "Anna", "{}", map[string]any{"text": "x", "ttl": 1}
		e.save(t, m, said(2, "7", 4), said(3, "", 3), said(4, "42", 2))
		out, err := e.Save(ctx, m)
		note(out, err)
		saving, err := e.SaveItem(said(5, "7", 1))
		note(err)
		_, err = e.db.Client().TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{saving.Item}})
		note(err)
		got, ok, err := e.Get(ctx, chat, 1)
		note(got, ok, err)
		note(seqs(t, e.InScope(ctx, chat, message.Range{Match: message.Match{Data: []record.Compare{{Name: "text", Value: "x"}, {Name: "ttl", Value: 1}}}})))
		note(seqs(t, e.ByActor(ctx, "42", message.Range{NewestFirst: true})))
		recent, err := e.Recent(ctx, chat, 3)
		note(recent, err)
		pace, err := e.FastConversation(ctx, message.FastConversation{Scope: chat, Seq: 5, Actor: "7", At: noon})
		note(pace, err)
		note(e.DropRaw(ctx, chat, 1), e.DropRaw(ctx, chat, 1))
		other := said(1, "9", 1)
		other.Scope = "other"
		e.save(t, other)
		erased, err := e.Erase(ctx, "other")
		note(erased, err)
		erased, err = e.EraseActor(ctx, "7")
		note(erased, err)
		return e.db.Client(), e.table
	})
}
