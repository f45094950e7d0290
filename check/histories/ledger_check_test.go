package histories_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// guardPrefix begins the keys of rows that only the holder of a key may write.
const guardPrefix = "guard:"

// check returns a call that writes as the holder of a claim.
func (l *ledgerStory) check(g *grant) *call {
	return &call{caller: g.caller, key: g.claim.Key, in: settles{what: "Check", claim: g}, do: func(ctx context.Context) any {
		return l.guarded(ctx, g)
	}}
}

// guarded writes in one transaction with a check of the claim, and returns what the
// check said.
func (l *ledgerStory) guarded(ctx context.Context, g *grant) any {
	holds := g.claim.CheckItem()
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{holds.Item, {Update: &types.Update{
		TableName: aws.String(effects), Key: row{"pk": s(guardPrefix + g.claim.Key)},
		UpdateExpression:          aws.String("SET nonce = :nonce, fence = :fence ADD times :one"),
		ExpressionAttributeValues: row{":nonce": s(g.nonce), ":fence": n(g.fence), ":one": n(1)},
	}}}}
	l.w.mu.Lock()
	l.guards[g.claim.Key] += 0 // from now on it is looked at
	l.w.mu.Unlock()
	for range 3 {
		_, err := g.caller.client.TransactWriteItems(ctx, in)
		if err == nil {
			return held{}
		}
		var cancelled *types.TransactionCanceledException
		if errors.As(err, &cancelled) {
			if _, err := holds.Outcome(cancelled.CancellationReasons[0]); refusal(err) != nil {
				return refusal(err)
			}
		}
	}
	return nil
}

// guard does so under the heartbeat of Hold, which continues.
func (wk *work) guard(ctx context.Context, during *part) {
	p := wk.caller.turn(wk.key, settles{what: "Check", claim: wk.grant, beats: true})
	p.op = "TransactWriteItems"
	wk.caller.mu.Lock()
	p.clocks = append(p.clocks, during.clocks...)
	wk.caller.mu.Unlock()
	wk.caller.answer(wk.s.guarded(ctx, wk.grant))
}

// unguarded names a key below which somebody wrote without holding it, whether it heard
// of that or not. A step has one write, so the key stands as it stood then.
func (l *ledgerStory) unguarded() string {
	for key, seen := range l.guards {
		out, err := l.w.raw.GetItem(context.Background(), &dynamodb.GetItemInput{
			TableName: aws.String(effects), Key: row{"pk": s(guardPrefix + key)},
		})
		if err != nil {
			return err.Error()
		}
		if l.guards[key] = num(out.Item, "times"); l.guards[key] == seen {
			continue
		}
		by := &grant{nonce: str(out.Item, "nonce"), fence: num(out.Item, "fence")}
		if stands := decodeLedger(l.w.rows()[key]); !stands.heldBy(by) {
			return fmt.Sprintf("%s is written below fence %d, and stands %s with fence %d", key, by.fence, stands.state, stands.fence)
		}
	}
	return ""
}
