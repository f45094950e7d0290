package ledger_test

import (
	"context"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/ledger"
)

// tape records the updates that pass, so that a test can deliver one again,
// later, as a network may.
type tape struct {
	ledger.API
	mu   sync.Mutex // guards sent
	sent []*dynamodb.UpdateItemInput
}

func (r *tape) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	r.mu.Lock()
	r.sent = append(r.sent, in)
	r.mu.Unlock()
	return r.API.UpdateItem(ctx, in, opts...)
}

func (r *tape) last() *dynamodb.UpdateItemInput {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[len(r.sent)-1]
}

func (r *tape) at(i int) *dynamodb.UpdateItemInput {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[i]
}

// deliver sends a recorded request again; nobody listens to its reply.
func (r *tape) deliver(ctx context.Context, in *dynamodb.UpdateItemInput) error {
	_, err := r.API.UpdateItem(ctx, in)
	return err
}

// taped is a ledger behind a tape.
func (b *bench) taped(t *testing.T, cfg ledger.Config) (*tape, *ledger.Store) {
	t.Helper()
	r := &tape{API: b.client}
	cfg.Now = b.clock.Now
	store, err := ledger.New(r, b.table, &cfg)
	must(t, err)
	return r, store
}
