package outbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/queue"
	"github.com/homeops/ddbpatterns/record"
)

const (
	typeRefused   = "REFUSED"
	refusedPrefix = "REFUSED#"
	kept          = 90 * 24 * time.Hour
	maxBody       = 300 * 1024
	maxReason     = 4 * 1024
)

// Refusal is an event that could not be read.
type Refusal struct {
	Source string
	Reason string // cut to 4 KB
	Body   string // cut to 300 KB; invalid UTF-8 becomes U+FFFD
	At     time.Time
}

// Refuse keeps a refusal for 90 days from its At, because the sender will not send
// it again. The same body from the same source replaces the existing refusal, with
// its reason and time, so that repeated refusals do not pile up. The whole body
// identifies the refusal, not the part that is kept. Refuse is safe to repeat.
//
// Price: 1 request, 2 WCU. It is 1 WCU for each KB, and as much for the index.
//
// Price (Again): 1 request, 3 WCU. The index costs twice as much if the existing
// refusal has another time.
func (s *Store) Refuse(ctx context.Context, r Refusal) error {
	if err := checkText("Source", r.Source); err != nil {
		return err
	}
	if err := checkTime("At", r.At); err != nil {
		return err
	}
	it := key(refusalKey(r.Source, r.Body))
	it["type"] = record.Text(typeRefused)
	it["source"] = record.Text(r.Source)
	it["reason"] = record.Text(cut(r.Reason, maxReason))
	it["body"] = record.Text(cut(r.Body, maxBody))
	it[queue.Received] = record.Time(r.At)
	it[queue.Outbox] = record.Text(refused)
	it[attrTTL] = record.Int(r.At.Add(kept).Unix())
	if err := checkSize("Source", it, 0); err != nil {
		return err
	}
	return s.wrap("Refuse", s.queue.Keep(ctx, it))
}

// refusalKey has no personal data, and different pairs have different keys.
func refusalKey(source, body string) string {
	return fmt.Sprintf("%s%x", refusedPrefix, sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(source), source, body)))
}

// cut returns as much of the text as fits into so many bytes.
func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Refusals returns up to limit refusals, the newest first, or nil. The index may
// lag. An unreadable row is left out: see Config.Unreadable.
//
// Price: 1 request, 0.5 RCU. It is 0.5 RCU for each 4 KB of all refusals together,
// and 1 request for each MB.
func (s *Store) Refusals(ctx context.Context, limit int) ([]Refusal, error) {
	if limit < 1 {
		return nil, event.BadInput(pkg, "limit", "must be positive")
	}
	now := s.cfg.Now().Unix()
	var refusals []Refusal
	in := s.queue.Waiting(refused)
	in.ScanIndexForward = aws.Bool(false)
	for {
		in.Limit = aws.Int32(int32(min(limit-len(refusals), queue.MostOfPage)))
		page, err := s.queue.API.Query(ctx, in)
		if err != nil {
			return nil, s.wrap("Refusals", err)
		}
		for _, it := range page.Items {
			r, expires, err := decodeRefusal(it)
			if err != nil {
				s.cfg.Unreadable(keyOf(it), err)
			} else if expires > now { // DynamoDB may delete it days late
				refusals = append(refusals, r)
			}
		}
		if in.ExclusiveStartKey = page.LastEvaluatedKey; len(page.LastEvaluatedKey) == 0 || len(refusals) >= limit {
			return refusals, nil
		}
	}
}

func decodeRefusal(it record.Item) (r Refusal, expires int64, _ error) {
	if err := wantType(it, typeRefused); err != nil {
		return Refusal{}, 0, err
	}
	f := record.Read(it)
	r = Refusal{Source: f.Text("source"), Reason: f.Text("reason"), Body: f.Text("body"), At: f.Time(queue.Received)}
	if r.Source == "" || r.At.IsZero() {
		return Refusal{}, 0, errors.New("attribute source is missing, or attribute receivedAt")
	}
	return r, f.Int(attrTTL), f.Err()
}
