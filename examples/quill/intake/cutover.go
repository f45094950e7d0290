package intake

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// beside is how long after the start of this process an earlier version of quill may
// still run beside it.
const beside = time.Hour

// oldMarks are keys that are marked, each with whether the row is the ledger's own:
// an earlier version's of quill, not the pipeline's before the cutover.
type oldMarks map[string]bool

// verdict is what the event is by its old keys, and unstored if they are not marked.
func (m oldMarks) verdict(e fact.Event) verdict {
	if own, marked := m[e.Earlier]; marked && own {
		return isDuplicate
	}
	if slices.ContainsFunc(e.Old, func(key string) bool { own, marked := m[key]; return marked && !own }) {
		return isOld
	}
	return unstored
}

// oldKeys returns the keys under which the event may have been marked: by the
// pipeline before the cutover, as long as its mark may still count, and by an earlier
// version of quill.
func (h *Handler) oldKeys(e fact.Event) (keys []string) {
	counts := func(until time.Time) bool {
		return e.At.Before(until) && h.now().Before(until.Add(or(h.Retention, Retention)))
	}
	if counts(h.Cutover) {
		keys = append(keys, e.Old...)
	}
	if e.Earlier != "" && counts(h.Began.Add(beside)) {
		keys = append(keys, e.Earlier)
	}
	return keys
}

// oldMarks reads the old marks of the events at these places. It sends no request
// if none of them can have one, which is always so after the cutover plus
// Retention.
func (h *Handler) oldMarks(ctx context.Context, places []int, events []fact.Event) (oldMarks, error) {
	var keys []string
	for _, i := range places {
		if events[i].Err == nil && events[i].Ignored == "" {
			keys = append(keys, h.oldKeys(events[i])...)
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
		maps.Copy(marks, found)
	})
	return marks, errors.Join(failures...)
}

// readOld returns which of the keys have a mark that counts.
func (h *Handler) readOld(ctx context.Context, keys []string) (found oldMarks, err error) {
	found = oldMarks{}
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
	err = h.send(ctx, func(ctx context.Context) error {
		out, err := h.DB.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: left}, once)
		if err != nil {
			return err
		}
		for _, row := range out.Responses[table.Name] {
			_, own := row[claim]
			if key, ok := row[keyAttr].(*types.AttributeValueMemberS); ok && counts(row, table.TTL, h.now(), own) {
				found[key.Value] = own
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

// counts reports whether a row has not expired, deleted or not. The ledger's own rows
// have an hour of grace in their time, those of the old pipeline have not.
func counts(row map[string]types.AttributeValue, ttl string, now time.Time, own bool) bool {
	if own {
		now = now.Add(time.Hour)
	}
	expires, ok := row[ttl].(*types.AttributeValueMemberN)
	if !ok {
		return true
	}
	at, err := strconv.ParseFloat(expires.Value, 64)
	return err != nil || at > float64(now.Unix())
}
