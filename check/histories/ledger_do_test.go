package histories_test

import (
	"context"
	"errors"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ledger"
)

// work is what happens under one Do. For the model that is a claim, the work
// with its heartbeat, and how it ends.
type work struct {
	s        *ledgerStory
	caller   *caller
	key      string
	heedless bool // ignores its context's end
	lock     bool // the work of Hold, whose claim is released
	text     string

	grant *grant  // nil if it never began
	ended settles // how it ended
	err   error   // what it returned
	lost  bool    // it was told that the lease ended
}

// do returns a call of Do, or of DoTx.
func (s *ledgerStory) do(c *caller, key, payload string) *call {
	if s.w.rnd.IntN(2) == 0 {
		return s.doTx(c, key, payload)
	}
	wk := &work{s: s, caller: c, key: key, heedless: s.w.rnd.IntN(3) == 0, text: s.result()}
	req := s.request(key, payload)
	return s.claiming(c, req, func(ctx context.Context) any {
		res, err := ledger.Do(ctx, s.stores[c.id].Store, req, wk.work)
		return wk.answer(res, err)
	})
}

// hold returns a call of Hold.
func (s *ledgerStory) hold(c *caller, key, payload string) *call {
	wk := &work{s: s, caller: c, key: key, heedless: s.w.rnd.IntN(3) == 0, lock: true}
	req := s.request(key, payload)
	holding := s.claiming(c, req, func(ctx context.Context) any {
		err := ledger.Hold(ctx, s.stores[c.id].Store, req, func(ctx context.Context, claim *ledger.Claim) error {
			_, err := wk.work(ctx, claim)
			return err
		})
		switch {
		case wk.grant == nil:
			return refusal(err)
		case err == wk.err: // it was released
			return held{}
		case errors.Is(err, ledger.ErrLeaseLost) && !wk.lost:
			return lost{}
		}
		return nil
	})
	holding.in = claims{payload: payload, lock: true}
	return holding
}

func (wk *work) work(ctx context.Context, claim *ledger.Claim) (value string, err error) {
	g, out := wk.s.grant(wk.caller, claim)
	wk.grant, g.ctx = g, ctx
	wk.caller.answer(out)
	during := wk.caller.turn(wk.key, settles{what: "Work", claim: g, beats: true})
	during.long = true
	roll, ok := wk.caller.wait(ctx, wk.heedless)
	ends := settles{what: "Fail", claim: g, text: wk.text}
	if wk.lock && roll < 70 {
		wk.guard(ctx, during)
	}
	switch {
	case wk.lock:
		ends.what, ends.text, err = "Release", "", ctx.Err()
	case !ok:
		ends.what, err = "GiveUp", ctx.Err()
	case roll < 25:
		ends.what, ends.text = "Complete", strconv.Quote(wk.text)
	case roll < 60:
		ends.what, ends.text = "Complete", strconv.Quote(wk.text)
		if err = wk.transact(ctx, claim, during); err != nil {
			ends.what = "GiveUp"
		}
	case roll < 90:
		err = errors.New(wk.text)
	default:
		ends.forever, err = true, ledger.Permanent(errors.New(wk.text))
	}
	g.leaving = true
	wk.ended, wk.err, wk.lost = ends, err, errors.Is(context.Cause(ctx), ledger.ErrLeaseLost)
	if wk.lost && err != nil && !ends.forever && !wk.lock { // Do adds that to the text
		wk.ended.what = "GiveUp"
	}
	wk.caller.turn(wk.key, wk.ended)
	return wk.text, err
}

// transact completes the claim together with an effect. The heartbeat
// continues, even with requests that it made before.
func (wk *work) transact(ctx context.Context, claim *ledger.Claim, before *part) error {
	p := wk.caller.turn(wk.key, settles{what: "Complete", claim: wk.grant, text: strconv.Quote(wk.text), beats: true})
	p.op = "TransactWriteItems"
	wk.caller.mu.Lock()
	p.clocks = append(p.clocks, before.clocks...)
	wk.caller.mu.Unlock()
	done, err := claim.CompleteItem(wk.text)
	if err != nil {
		return err
	}
	_, err = wk.caller.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{done.Item, {Update: &types.Update{
			TableName: aws.String(effects), Key: row{"pk": s(wk.key)},
			UpdateExpression: aws.String("ADD times :one"), ExpressionAttributeValues: row{":one": n(1)},
		}}},
	})
	var cancelled *types.TransactionCanceledException
	switch {
	case err == nil:
		wk.caller.answer(held{})
	case errors.As(err, &cancelled) && aws.ToString(cancelled.CancellationReasons[0].Code) == "ConditionalCheckFailed":
		if a := wk.s.w.written(p); a == nil || a.flight.Op != p.op { // otherwise it was refused by itself
			wk.caller.answer(refused{})
		}
	}
	return err
}

// answer is what Do said about its last part, nil if nothing follows from it.
func (wk *work) answer(res ledger.Result[string], err error) any {
	switch {
	case wk.grant == nil && err == nil:
		return done{strconv.Quote(res.Value)}
	case wk.grant == nil && errors.Is(err, ledger.ErrNoResult):
		return done{}
	case wk.grant == nil:
		return refusal(err)
	case err == nil && wk.err == nil && !res.Replayed:
		return held{}
	case err == nil:
		return done{strconv.Quote(res.Value)}
	case wk.lost || wk.ended.what == "GiveUp":
		return nil
	case wk.err != nil && err.Error() == wk.err.Error():
		return held{}
	case errors.Is(err, ledger.ErrLeaseLost):
		return lost{}
	}
	return nil
}
