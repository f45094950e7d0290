// Package moved owns one record type of the application's own: which group a
// supergroup was before. Telegram gives a group that becomes a supergroup
// another id, under which the ids of messages begin anew. A household's
// activities and words stay under the id that it began with, its scope.
//
//	pk CHAT#<supergroup>   sk MOVED   type MOVED   scope <group>   event   updatedAt
//
// Both chats report the move, in any order and more than once: every [Store.Record]
// of it writes the same scope.
//
// # IAM actions
//
//   - The service, on the table: GetItem, UpdateItem
package moved

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

const (
	// remembered is how long a process believes that a chat has not moved.
	// Telegram reports a move before anything else of the new chat, so only
	// messages that overtake the report learn of it late.
	remembered = 5 * time.Minute
	// mostChats bounds what a process remembers.
	mostChats = 1000
)

// Store keeps the moves. It is safe for concurrent use.
type Store struct {
	rows *record.Rows[string]
	now  func() time.Time

	mu    sync.Mutex
	chats map[string]answer // guarded by mu
}

// answer is what is known of a chat.
type answer struct {
	scope string
	since time.Time
}

// New returns a Store on the table that holds the aliases and habits, too. A nil
// clock is time.Now.
func New(api record.API, table string, now func() time.Time) (*Store, error) {
	if now == nil {
		now = time.Now
	}
	rows, err := record.New(api, table,
		record.Kind[string]{Package: "moved", Type: "MOVED", Attributes: []string{"scope"}, Decode: decode}, &record.Config{Now: now})
	if err != nil {
		return nil, err
	}
	return &Store{rows: rows, now: now, chats: map[string]answer{}}, nil
}

// Table returns the definition of the table.
func (s *Store) Table() schema.Table { return s.rows.Table() }

// Actions returns what IAM must grant for Record and Scope.
func (s *Store) Actions() schema.Actions {
	needs := s.rows.Actions().Calls
	return schema.Actions{Calls: map[string]schema.Grants{"Record": needs["Set"], "Scope": needs["Get"]}}
}

func decode(row record.Item) (string, error) {
	f := record.Read(row)
	return f.Text("scope"), f.Err()
}

// Move is a group that became a supergroup, and the event that reported it.
type Move struct {
	From  string
	To    string
	Event event.Event
}

// Record stores the move. Created means that this event did, Duplicate that it
// or a later one had done so before.
//
// Price: 1 request, 1 WCU.
func (s *Store) Record(ctx context.Context, m Move) (event.Outcome, error) {
	if m.From == "" || m.From == m.To {
		return 0, event.BadInput("moved", "From", "must be a chat other than To")
	}
	out, err := s.rows.Set(ctx, record.Set{
		Partition: record.Key("CHAT", m.To), Sort: "MOVED", Event: m.Event,
		Values: record.Item{"scope": record.Text(m.From)},
	})
	if errors.Is(err, event.ErrSuperseded) {
		out, err = event.Duplicate, nil
	}
	if err == nil {
		s.remember(m.To, m.From)
	}
	return out, err
}

// Scope returns the id under which the chat's records are kept: that of the
// group that it was, or its own. It reads the table unless the scope is
// [Store.Known]. One row is enough, because a group that became a supergroup
// was never anything else.
//
// Price: 1 request, 0.5 RCU. Nothing if it is known.
func (s *Store) Scope(ctx context.Context, chat string) (string, error) {
	if scope, known := s.Known(chat); known {
		return scope, nil
	}
	scope, ok, err := s.rows.Get(ctx, record.Key("CHAT", chat), "MOVED")
	if err != nil {
		return "", err
	}
	if !ok || scope == "" {
		scope = chat
	}
	return s.remember(chat, scope), nil
}

// Known returns the scope that this process remembers, otherwise the chat's own
// id. It remembers a move for good, and the absence of a move for five minutes.
func (s *Store) Known(chat string) (scope string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.chats[chat]
	switch {
	case !ok:
		return chat, false
	case a.scope != chat:
		return a.scope, true
	}
	return chat, s.now().Sub(a.since).Abs() < remembered
}

// remember keeps and returns the scope. A move that is known already stays: a
// read that began before it was recorded does not undo it.
func (s *Store) remember(chat, scope string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.chats[chat]; ok && a.scope != chat && scope == chat {
		return a.scope
	}
	if len(s.chats) >= mostChats {
		clear(s.chats)
	}
	s.chats[chat] = answer{scope, s.now()}
	return scope
}
