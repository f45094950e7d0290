package outbox

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/queue"
	"github.com/homeops/ddbpatterns/record"
)

const (
	typeKnown   = "KNOWN"
	knownPrefix = "KNOWN#"
)

// Known is what is known about a contact or a deal.
type Known struct {
	Key, Table string
	Row        fact.Row
	At         map[string]time.Time // each column's last change, to the millisecond
}

// Known returns what is known, by key. Unknown keys are absent. An unreadable row
// is left out, see Config.Unreadable, and the next Learn replaces it.
//
// Price: 1 request, 1 RCU. 1 RCU for each 4 KB of each key's row, and 1 request for
// each 100 keys.
func (s *Store) Known(ctx context.Context, keys []string) (map[string]Known, error) {
	pks := make([]string, len(keys))
	for i, key := range keys {
		if err := checkKey("keys", knownPrefix, key); err != nil {
			return nil, err
		}
		pks[i] = knownPrefix + key
	}
	rows, err := s.queue.Many(ctx, pks)
	if err != nil {
		return nil, s.wrap("Known", err)
	}
	known := make(map[string]Known, len(rows))
	for pk, row := range rows {
		k, err := decodeKnown(row)
		if err != nil {
			s.cfg.Unreadable(pk, err)
			continue
		}
		known[k.Key] = k
	}
	return known, nil
}

// Learn replaces what is known if no poster with a higher fence has written it, and
// returns ErrFenced otherwise. It is safe to repeat, so a lost reply does no harm.
//
// Price: 1 request, 1 WCU. 1 WCU for each KB.
func (s *Store) Learn(ctx context.Context, fence int64, k Known) error {
	it, err := encodeKnown(k)
	if err := cmp.Or(err, checkFence("fence", fence)); err != nil {
		return err
	}
	if err := checkSize("Row", it, 0); err != nil {
		return err
	}
	return s.wrap("Learn", s.queue.Put(ctx, fence, it))
}

func encodeKnown(k Known) (record.Item, error) {
	if err := cmp.Or(checkKey("Key", knownPrefix, k.Key), checkText("Table", k.Table)); err != nil {
		return nil, err
	}
	it := key(knownPrefix + k.Key)
	it["type"] = record.Text(typeKnown)
	it["table"] = record.Text(k.Table)
	if k.Row != nil {
		row, err := encodeRow("Row", k.Row)
		if err != nil {
			return nil, err
		}
		it["row"] = row
	}
	changed := make(record.Item, len(k.At))
	for column, at := range k.At {
		if column == "" || !utf8.ValidString(column) {
			return nil, event.BadInput(pkg, "At", "must have column names that are not empty and are valid UTF-8")
		}
		if err := checkTime("At."+column, at); err != nil {
			return nil, err
		}
		changed[column] = record.Time(at)
	}
	if len(changed) > 0 {
		it["changed"] = mapOf(changed)
	}
	return it, nil
}

func decodeKnown(it record.Item) (Known, error) {
	if err := wantType(it, typeKnown); err != nil {
		return Known{}, err
	}
	f := record.Read(it)
	k := Known{Key: strings.TrimPrefix(f.Text(queue.Key), knownPrefix), Table: f.Text("table")}
	row, err1 := decodeRow(it, "row")
	changed, err2 := decodeMap(it, "changed")
	k.Row = row
	if len(changed) > 0 {
		k.At = make(map[string]time.Time, len(changed))
	}
	at := record.Read(changed)
	for column := range changed {
		k.At[column] = at.Time(column)
	}
	return k, cmp.Or(err1, err2, f.Err(), at.Err())
}
