// Package dmstatus owns one record type of the application's own: whether the
// bot may write to a person in private. It shows how a service uses package
// record to keep a record of its own beside the library's, in the same table
// and with the same guarantees.
//
//	pk DM#<user>   sk STATUS   type DM   status started|stopped   chatId   event   updatedAt
//
// A later event wins and an earlier one changes nothing, in any order of
// arrival; a repetition is a Duplicate. Telegram's times are whole seconds: in one
// second, started wins. If that is wrong, the next message to the person is refused
// and stops.
//
// # IAM actions
//
//   - The service, on the table: GetItem, UpdateItem
package dmstatus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// Status of a private conversation.
type Status string

// The statuses.
const (
	Started Status = "started"
	Stopped Status = "stopped" // the person blocked the bot
)

// Store keeps the statuses.
type Store struct{ rows *record.Rows[Status] }

// New returns a Store on the table that holds the aliases and habits, too. A nil
// clock is time.Now.
func New(api record.API, table string, now func() time.Time) (*Store, error) {
	rows, err := record.New(api, table,
		record.Kind[Status]{Package: "dmstatus", Type: "DM", Attributes: []string{"status", "chatId"}, Decode: decode}, &record.Config{Now: now})
	if err != nil {
		return nil, err
	}
	return &Store{rows}, nil
}

// Table returns the definition of the table.
func (s *Store) Table() schema.Table { return s.rows.Table() }

// Actions returns what IAM must grant for Set and Get.
func (s *Store) Actions() schema.Actions {
	needs := s.rows.Actions().Calls
	return schema.Actions{Calls: map[string]schema.Grants{"Set": needs["Set"], "Get": needs["Get"]}}
}

func decode(row record.Item) (Status, error) {
	f := record.Read(row)
	return Status(f.Text("status")), f.Err()
}

// Change is a new status and the event that brought it.
type Change struct {
	User   string
	Chat   string
	Status Status
	Event  event.Event
}

// Set records the change. Created means that it is recorded now, Duplicate that
// this event or a later one had been recorded before.
//
// Price: 1 request, 1 WCU.
func (s *Store) Set(ctx context.Context, c Change) (event.Outcome, error) {
	if c.Status != Started && c.Status != Stopped {
		return 0, event.BadInput("dmstatus", "Status", fmt.Sprintf("must be started or stopped, is %q", c.Status))
	}
	rank := 0
	if c.Status == Started {
		rank = 1
	}
	out, err := s.rows.Set(ctx, record.Set{
		Partition: record.Key("DM", c.User), Sort: "STATUS", Event: c.Event, Rank: rank,
		Values: record.Item{"status": record.Text(string(c.Status)), "chatId": record.Text(c.Chat)},
	})
	if errors.Is(err, event.ErrSuperseded) {
		return event.Duplicate, nil
	}
	return out, err
}

// Get returns the status; ok is false when the person never wrote in private.
//
// Price: 1 request, 0.5 RCU.
func (s *Store) Get(ctx context.Context, user string) (_ Status, ok bool, _ error) {
	status, ok, err := s.rows.Get(ctx, record.Key("DM", user), "STATUS")
	return status, ok && status != "", err
}
