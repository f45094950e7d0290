package intake_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/examples/internal/pipeline"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/ledger"
)

// Webhooks that are sent until they are answered 200 leave each fact once, also if
// processes die at any request or two have the same webhook, and it is counted as new at
// most once. (Aloware never sends again, and its webhooks go to files if they cannot be
// stored. The explorer orders no writes of files: see package spool.)
func TestPipeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.send(intake.AlowarePath, sms, 200, isNew)
	for name, sent := range map[string][]webhook{
		"change":       {{intake.HubSpotPath, batch(change(1))}},
		"call":         {{intake.AlowarePath, call("completed")}},
		"known":        {{intake.AlowarePath, sms}},
		"two statuses": {{intake.AlowarePath, call("completed")}, {intake.AlowarePath, call("voicemail")}},
		"ringing":      {{intake.AlowarePath, call("ringing")}},
		"invalid":      {{intake.HubSpotPath, batch("7")}},
		"cutover":      {{intake.HubSpotPath, batch(change(2))}},
	} {
		t.Run(name, func(t *testing.T) {
			pipeline.Test(t, 60, explore.Config{Server: b.db.Server(), Start: b.clock()}, explore.Deliveries[webhook]{
				Messages: sent, AtMostOnce: []string{"new*"}, Ignore: []string{"seenAt", "expiresAt", "claim", "receivedAt", "nonce", "ttl"},
			}, func(p *explore.Process) func(context.Context, webhook) error {
				return b.process(t, p, name == "cutover")
			})
		})
	}
}

type webhook struct{ path, body string }

// process returns what a process does with a webhook.
func (b *bench) process(t *testing.T, p *explore.Process, cutover bool) func(context.Context, webhook) error {
	led, err := ledger.New(p.Client(), marks, &ledger.Config{Now: p.Now, Rand: p.Rand()})
	if err != nil {
		t.Error(err)
	}
	out, err := outbox.New(p.Client(), facts, &outbox.Config{Now: p.Now, Nonce: func() string {
		var b [8]byte
		_, _ = p.Rand().Read(b[:])
		return hex.EncodeToString(b[:])
	}})
	if err != nil {
		t.Error(err)
	}
	h := b.twin()
	h.DB, h.Ledger, h.Outbox, h.Tally, h.SideBySide, h.Rand = p.Client(), led, out, nil, 1, p.Rand()
	h.Now, h.HubSpot.Now = p.Now, p.Now
	if cutover {
		h.Cutover = p.Now().Add(day)
	}
	return func(ctx context.Context, w webhook) error {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, b.request(ctx, w.path, w.body))
		var counts intake.Counts
		if err := json.Unmarshal(answer.Body.Bytes(), &counts); err != nil || answer.Code != 200 {
			return fmt.Errorf("%d %s", answer.Code, answer.Body)
		}
		if counts.New > 0 {
			_ = p.Do("new", func() error { return nil })
		}
		return nil
	}
}
