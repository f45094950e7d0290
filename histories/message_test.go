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
		store, err := message.New(c.client, "messages", &message.Config{Now: c.now, Retention: messageRetention, MaxSkew: messageSkew})
		if err != nil {
			panic(err)
		}
		s.stores = append(s.stores, store)
	}
	return s
}

func (s *messageStory) tables() []schema.Table { return []schema.Table{s.stores[0].Table()} }
func (*messageStory) keyOf(r row) string {
	return fmt.Sprintf("%s %d", str(r, "chatId"), num(r, "messageId"))
}
func (*messageStory) delay() time.Duration { return messageSkew - 3*clockRange }
func (*messageStory) begin() []*call       { return nil }
func (*messageStory) intrude()             {}
func (*messageStory) keen(*caller) bool    { return false }
func (*messageStory) waited(*flight) bool  { return false }
func (*messageStory) wrong() string        { return "" }
func (*messageStory) verdict() string      { return "" }

func (*messageStory) leaps() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 20 * time.Minute, messageRetention}
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
	if s.w.rnd.IntN(4) == 0 {
		return s.read(c, seq)
	}
	version := s.version()
	m := message.Message{
		Scope: "chat", Seq: seq, Actor: "42", Text: fmt.Sprintf("version %d", version), At: s.said[version],
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
