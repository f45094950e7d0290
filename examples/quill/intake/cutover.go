package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

const (
	keysARead  = 100  // the most that BatchGetItem accepts
	longestKey = 2048 // DynamoDB's limit: a longer key marks nothing

	// claim is an attribute that every row of the ledger has, and no other row.
	claim = "claim"
)

// oldMarks are the keys that the pipeline before the cutover has marked.
type oldMarks map[string]bool

// mark reports whether one of the event's old keys is marked.
func (m oldMarks) mark(e fact.Event) bool {
	return slices.ContainsFunc(e.Old, func(key string) bool { return m[key] })
}

// mayBeOld reports whether the pipeline before the cutover may have had the event, and
// its mark may still count.
func (h *Handler) mayBeOld(e fact.Event) bool {
	return len(e.Old) > 0 && e.At.Before(h.Cutover) && h.now().Before(h.Cutover.Add(or(h.Retention, Retention)))
}

// oldMarks reads the old marks of the events at these places. It sends no request
// if none of them can have one, which is always so after the cutover plus
// Retention.
func (h *Handler) oldMarks(ctx context.Context, places []int, events []fact.Event) (oldMarks, error) {
	var keys []string
	for _, i := range places {
		if events[i].Err == nil && h.mayBeOld(events[i]) {
			keys = append(keys, events[i].Old...)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys) // DynamoDB refuses a repeated key
	keys = slices.DeleteFunc(keys, func(key string) bool { return key == "" || len(key) > longestKey })
	chunks := slices.Collect(slices.Chunk(keys, keysARead))

	var mu sync.Mutex
	marks := oldMarks{}
	var failures []error
	h.sideBySide(len(chunks), func(i int) {
		found, err := h.readOld(ctx, chunks[i])
		mu.Lock()
		defer mu.Unlock()
		failures = append(failures, err)
		for _, key := range found {
			marks[key] = true
		}
	})
	return marks, errors.Join(failures...)
}

// readOld returns which of the keys have a mark that counts.
func (h *Handler) readOld(ctx context.Context, keys []string) (found []string, err error) {
	table := h.Ledger.Table()
	keyAttr := table.Key.Partition.Name
	ask := types.KeysAndAttributes{
		ConsistentRead:           aws.Bool(true),
		ProjectionExpression:     aws.String("#key, #expires, #claim"),
		ExpressionAttributeNames: map[string]string{"#key": keyAttr, "#expires": table.TTL, "#claim": claim},
	}
	for _, key := range keys {
		ask.Keys = append(ask.Keys, map[string]types.AttributeValue{keyAttr: &types.AttributeValueMemberS{Value: key}})
	}
	left := map[string]types.KeysAndAttributes{table.Name: ask}
	err = send(ctx, func(ctx context.Context) error {
		out, err := h.DB.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: left}, once)
		if err != nil {
			return err
		}
		for _, row := range out.Responses[table.Name] {
			if key, ok := row[keyAttr].(*types.AttributeValueMemberS); ok && counts(row, table.TTL, h.now()) {
				found = append(found, key.Value)
			}
		}
		if left = out.UnprocessedKeys; len(left) > 0 {
			return errUnprocessed
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("intake: BatchGetItem on table %s: %w", table.Name, err)
	}
	return found, nil
}

// counts reports whether a row is the old pipeline's and has not expired. Those
// rows have no grace: they expire at their time, deleted or not.
func counts(row map[string]types.AttributeValue, ttl string, now time.Time) bool {
	if _, ours := row[claim]; ours {
		return false
	}
	expires, ok := row[ttl].(*types.AttributeValueMemberN)
	if !ok {
		return true
	}
	at, err := strconv.ParseFloat(expires.Value, 64)
	return err != nil || at > float64(now.Unix())
}
