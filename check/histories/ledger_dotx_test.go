package histories_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
)

// gatePrefix begins the keys of gates. While a gate's row exists, transactions
// that check it are refused.
const gatePrefix = "gate:"

// turnGate closes a key's gate, or opens it.
func (l *ledgerStory) turnGate(key string) {
	gate := row{"pk": s(gatePrefix + key)}
	_, err := l.w.raw.PutItem(context.Background(), &dynamodb.PutItemInput{
		TableName: aws.String(effects), Item: gate, ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	if err != nil {
		_, err = l.w.raw.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: aws.String(effects), Key: gate})
	}
	if err != nil {
		panic(err)
	}
	l.w.note(key, "its gate turns")
}

// transacted is what happens under one DoTx. For the model that is a claim, and
// then, for each call of the work, the work with its heartbeat and how it ends.
type transacted struct {
	work
	calls int
	bold  int // from this call on, no gate is checked
}

// doTx returns a call of DoTx.
func (s *ledgerStory) doTx(c *caller, key, payload string) *call {
	bold := 1 + s.w.rnd.IntN(6)
	if bold == 6 {
		bold = 20 // DoTx gives up before
	}
	wk := &transacted{bold: bold, work: work{s: s, caller: c, key: key, heedless: s.w.rnd.IntN(3) == 0, text: s.result()}}
	req := s.request(key, payload)
	return s.claiming(c, req, func(ctx context.Context) any {
		res, err := ledger.DoTx(ctx, s.stores[c.id].Store, req, wk.do)
		return wk.answer(res, err)
	})
}

func (wk *transacted) do(ctx context.Context, claim *ledger.Claim) (value string, items []types.TransactWriteItem, err error) {
	if wk.calls++; wk.calls == 1 {
		g, out := wk.s.grant(wk.caller, claim)
		wk.grant = g
		wk.caller.answer(out)
	} else {
		wk.text += "'"
		if wk.bold%2 == 0 { // what refused the first transaction goes, and the first may arrive late
			wk.s.turnGate(wk.key)
		}
	}
	wk.grant.ctx, wk.grant.leaving = ctx, false
	during := wk.caller.turn(wk.key, settles{what: "Work", claim: wk.grant, beats: true})
	during.long = true
	roll, ok := wk.caller.wait(ctx, wk.heedless)
	ends := settles{what: "Fail", claim: wk.grant, text: wk.text}
	switch {
	case !ok:
		ends.what, err = "GiveUp", ctx.Err()
	case roll < 50 || roll < 80 && wk.calls == 1:
		ends.what, ends.text, ends.beats = "Transact", strconv.Quote(wk.text), true
		items = wk.items()
	case roll < 85:
		ends.what, ends.text = "Complete", strconv.Quote(wk.text)
	case roll < 95:
		err = errors.New(wk.text)
	default:
		ends.forever, err = true, ledger.Permanent(errors.New(wk.text))
	}
	wk.grant.leaving = true
	wk.ended, wk.err, wk.lost = ends, err, errors.Is(context.Cause(ctx), ledger.ErrLeaseLost)
	if wk.lost && err != nil && !ends.forever { // DoTx adds that to the text
		wk.ended.what = "GiveUp"
	}
	p := wk.caller.turn(wk.key, wk.ended)
	if wk.ended.what == "Transact" {
		p.op = "TransactWriteItems"
		wk.caller.mu.Lock()
		p.clocks = append(p.clocks, during.clocks...)
		wk.caller.mu.Unlock()
	}
	return wk.text, items, err
}

// items returns the effect, and a check of the gate.
func (wk *transacted) items() []types.TransactWriteItem {
	items := []types.TransactWriteItem{effectOn(wk.key)}
	if wk.calls < wk.bold {
		items = append(items, gateOf(wk.key))
	}
	return items
}

// gateOf refuses a transaction while the key's gate is closed.
func gateOf(key string) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(effects), Key: row{"pk": s(gatePrefix + key)}, ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
}

// effectOn returns the effect that must happen as often as the write beside it.
func effectOn(key string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(effects), Key: row{"pk": s(key)},
		UpdateExpression: aws.String("ADD times :one"), ExpressionAttributeValues: row{":one": n(1)},
	}}
}

// answer is what DoTx said about its last part, nil if nothing follows from it.
func (wk *transacted) answer(res ledger.Result[string], err error) any {
	var bad *event.InputError
	switch {
	case wk.grant == nil || wk.ended.what != "Transact" && wk.ended.what != "Complete":
		return wk.work.answer(res, err)
	case err == nil && res.Value == wk.text:
		return held{}
	case err == nil && !res.Replayed: // an earlier call of the work sent the transaction
		return done{strconv.Quote(res.Value)}
	case errors.Is(err, ledger.ErrLeaseLost):
		return lost{}
	case err == nil || errors.Is(err, ledger.ErrResultDiffers) || errors.As(err, &bad): // only this work completes this claim
		wk.s.w.broken = fmt.Sprintf("caller %d is told %+v, %v of its own transaction", wk.caller.id, res, err)
	}
	return nil
}
