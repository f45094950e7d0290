package histories_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/schema"
)

// messageStory uses few numbers, each for several messages: an edit, or a number
// that is used again after the first message has expired.
type messageStory struct {
	w      *world
	stores []*message.Store
	eraser *message.Store // its requests arrive at once
	keys   int
	said   []time.Time // by version
}

const (
	messageSkew      = 10 * time.Minute
	messageRetention = time.Hour
)

func newMessage(w *world) story {
	s := &messageStory{w: w, keys: 1 + w.rnd.IntN(3)}
	for _, c := range w.callers {
		s.stores = append(s.stores, s.over(c.client, c.now))
	}
	s.eraser = s.over(w.raw, w.clock)
	return s
}

func (s *messageStory) tables() []schema.Table { return []schema.Table{s.stores[0].Table()} }
func (*messageStory) keyOf(r row) string {
	return fmt.Sprintf("%s %d", str(r, "chatId"), num(r, "messageId"))
}
func (*messageStory) delay() time.Duration { return messageSkew - 3*clockRange }
func (*messageStory) begin() []*call       { return nil }
func (*messageStory) keen(*caller) bool    { return false }
func (*messageStory) waited(*flight) bool  { return false }
func (*messageStory) wrong() string        { return "" }
func (*messageStory) verdict() string      { return "" }

func (*messageStory) leaps() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 20 * time.Minute, messageRetention}
}

func (*messageStory) over(api message.API, now func() time.Time) *message.Store {
	store, err := message.New(api, "messages", &message.Config{Now: now, Retention: messageRetention, MaxSkew: messageSkew, ActorIndex: true})
	if err != nil {
		panic(err)
	}
	return store
}

// intrude erases the scope.
func (s *messageStory) intrude() {
	stood := s.w.rows()
	if n, err := s.eraser.Erase(context.Background(), "chat"); n != len(stood) || err != nil {
		panic(err)
	}
	for key := range stood {
		s.w.happened(key, erased{}, nil)
	}
}

// eraseActor erases by an index that still has the row of a message.
func (s *messageStory) eraseActor(c *caller, seq int64) *call {
	in := erasesOf{actorOf(s.w.rnd.Int64N(2))}
	store := s.over(stale(c, row{"chatId": &types.AttributeValueMemberS{Value: "chat"}, "messageId": n(seq)}), c.now)
	return &call{caller: c, key: fmt.Sprintf("chat %d", seq), in: in, do: func(ctx context.Context) any {
		n, err := store.EraseActor(ctx, in.actor)
		if err != nil {
			return nil
		}
		return removed{n}
	}}
}

// expiry is when the version is forgotten.
func (s *messageStory) expiry(version int64) time.Time {
	return s.said[version].Add(messageRetention).Truncate(time.Second)
}

// version returns a message said now or lately, or one that was saved before.
func (s *messageStory) version() int64 {
	if recent := len(s.said) - 4; len(s.said) == 0 || s.w.rnd.IntN(3) == 0 {
		s.said = append(s.said, s.w.clock().Add(-time.Duration(s.w.rnd.Int64N(int64(50*time.Minute)))).Truncate(time.Millisecond))
	} else if recent > 0 {
		return int64(recent + s.w.rnd.IntN(4))
	}
	return s.w.rnd.Int64N(int64(len(s.said)))
}

func (s *messageStory) next(c *caller) *call {
	seq := 1 + s.w.rnd.Int64N(int64(s.keys))
	switch s.w.rnd.IntN(8) {
	case 0, 1:
		return s.read(c, seq)
	case 2:
		return s.eraseActor(c, seq)
	}
	version := s.version()
	m := message.Message{
		Scope: "chat", Seq: seq, Actor: actorOf(version), Text: fmt.Sprintf("version %d", version), At: s.said[version],
		Data: map[string]any{"version": float64(version)},
	}
	save := s.stores[c.id].Save
	if s.w.rnd.IntN(3) == 0 {
		save = func(ctx context.Context, m message.Message) (event.Outcome, error) { return s.saveItem(ctx, c, m) }
	}
	return &call{caller: c, key: fmt.Sprintf("chat %d", seq), in: saves{version}, do: func(ctx context.Context) any {
		out, err := save(ctx, m)
		switch {
		case errors.Is(err, event.ErrTooOld):
			return tooOld{}
		case err != nil:
			return nil
		case out == event.Created:
			return created{}
		}
		return duplicate{}
	}}
}

// saveItem saves in a transaction, which it sends up to three times unchanged
// while the outcome is unknown.
func (s *messageStory) saveItem(ctx context.Context, c *caller, m message.Message) (event.Outcome, error) {
	item, err := s.stores[c.id].SaveItem(m)
	if err != nil {
		return 0, err
	}
	for range 3 {
		_, err = c.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{item.Item}})
		var cancelled *types.TransactionCanceledException
		if err == nil {
			return event.Created, nil
		}
		if errors.As(err, &cancelled) {
			if out, err := item.Outcome(cancelled.CancellationReasons[0]); err == nil {
				return out, nil
			}
		}
	}
	return 0, err
}

func (s *messageStory) read(c *caller, seq int64) *call {
	return &call{caller: c, key: fmt.Sprintf("chat %d", seq), in: fetches{}, do: func(ctx context.Context) any {
		m, ok, err := s.stores[c.id].Get(ctx, "chat", seq)
		switch {
		case err != nil:
			return nil
		case !ok:
			return absent{}
		}
		version, err := strconv.ParseInt(strings.TrimPrefix(m.Text, "version "), 10, 64)
		if err != nil || !m.At.Equal(s.said[version]) || m.Data["version"] != attributevalue.Number(fmt.Sprint(version)) {
			return fmt.Sprintf("a mixture: %q of %v with %v", m.Text, m.At, m.Data)
		}
		return standing{version}
	}}
}

func (s *messageStory) end() []*call {
	var calls []*call
	for seq := range int64(s.keys) {
		calls = append(calls, s.read(s.w.callers[0], seq+1))
	}
	return calls
}
