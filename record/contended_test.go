package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/record"
)

// scripted answers without a database.
type scripted struct {
	record.API
	read  error
	write func() error
	tries int
}

func (s *scripted) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{}, s.read
}

func (s *scripted) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	s.tries++
	return &dynamodb.UpdateItemOutput{}, s.write()
}

// Attempts are bounded, with pauses between them, and the last refusal stays
// reachable.
func TestContended(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{
		"refused":  &types.ConditionalCheckFailedException{},
		"conflict": &types.TransactionConflictException{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				last, api := started, &scripted{}
				api.write = func() error {
					most := 5 * time.Millisecond << min(max(api.tries-2, 0), 8)
					if gap := time.Since(last); api.tries > 1 && gap > most {
						t.Errorf("a pause of %v before attempt %d, want at most %v", gap, api.tries, most)
					}
					last = time.Now()
					return refusal
				}
				out, err := sums(t, api, "rows").Apply(t.Context(), applied(at(t, 1), plus(1)))
				if !errors.Is(err, record.ErrContended) || !errors.Is(err, refusal) || out != 0 {
					t.Errorf("Apply = %v, %v", out, err)
				}
				if api.tries != 16 {
					t.Errorf("%d attempts, want %d", api.tries, 16)
				}
				if took := time.Since(started); took == 0 || took > 10300*time.Millisecond {
					t.Errorf("took %v, the docs say at most 10.3 s", took)
				}
				if want := "sums: Apply on table rows: record: other writers changed the row first at every attempt (16 attempts): "; !strings.HasPrefix(err.Error(), want) {
					t.Errorf("%v, want %s", err, want)
				}
			})
		})
	}
}

// The last attempt may take effect, lose its reply and be refused by its own
// work when the SDK repeats it: the row that refuses it says so.
func TestContendedButWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ev := at(t, 1)
		api := &scripted{}
		api.write = func() error {
			refusal := &types.ConditionalCheckFailedException{Item: ddb.Item{"pk": item.S("p"), "sk": item.S("s"), "version": item.N(int64(api.tries))}}
			if api.tries == 16 {
				refusal.Item["recent"] = item.B(ev[:])
			}
			return refusal
		}
		out, err := sums(t, api, "rows").Apply(t.Context(), applied(ev, plus(1)))
		if err != nil || out != event.Duplicate || api.tries != 16 {
			t.Errorf("Apply = %v, %v after %d attempts", out, err, api.tries)
		}
	})
}

// The last write may take effect and lose its reply, and the SDK's repetition
// of it meet a conflict, which tells nothing. So Contended leaves it open
// whether the event counted; calling again tells, and counts nothing twice.
func TestContendedMayHaveCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, spy, rows := openOn(t, dynamotest.New(t, nil))
		spy.before = func(write int, in *dynamodb.UpdateItemInput) error {
			if write == 16 {
				if _, err := db.Client().UpdateItem(t.Context(), in); err != nil {
					t.Error(err)
				}
			}
			return &types.TransactionConflictException{}
		}
		if out, err := rows.Apply(t.Context(), applied(at(t, 1), plus(1))); !errors.Is(err, record.ErrContended) || out != 0 {
			t.Errorf("Apply = %v, %v", out, err)
		}
		mustApply(t, rows, 1, event.Duplicate)
		if diff := cmp.Diff(row{Count: 1, Version: 1, Sum: 1, Ring: 1}, stored(t, db, rows.Table().Name)); diff != "" {
			t.Errorf("row (-want +got):\n%s", diff)
		}
	})
}

// A transaction under way on the row says nothing about the row: the same
// write is tried again.
func TestConflictPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := &scripted{}
		api.write = func() error {
			if api.tries < 4 {
				return &types.TransactionConflictException{}
			}
			return nil
		}
		if out, err := sums(t, api, "rows").Apply(t.Context(), applied(at(t, 1), plus(1))); err != nil || out != event.Created || api.tries != 4 {
			t.Errorf("Apply = %v, %v after %d attempts", out, err, api.tries)
		}
	})
}

func TestStopsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		api := &scripted{write: func() error { cancel(); return &types.ConditionalCheckFailedException{} }}
		out, err := sums(t, api, "rows").Apply(ctx, applied(at(t, 1), plus(1)))
		var refused *types.ConditionalCheckFailedException
		if !errors.Is(err, context.Canceled) || !errors.As(err, &refused) || errors.Is(err, record.ErrContended) || out != 0 || api.tries != 1 {
			t.Errorf("Apply = %v, %v after %d attempts", out, err, api.tries)
		}
	})
}

// Without a row to read nothing is written.
func TestUnread(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	api := &scripted{read: down}
	out, err := sums(t, api, "rows").Apply(t.Context(), applied(at(t, 1), plus(1)))
	if !errors.Is(err, down) || out != 0 || api.tries != 0 || err.Error() != "sums: Apply on table rows: down" {
		t.Errorf("Apply = %v, %v after %d attempts", out, err, api.tries)
	}
}

// What is neither a refusal nor a conflict is not tried again here: the SDK
// has done what can be done.
func TestOtherErrors(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	api := &scripted{write: func() error { return down }}
	out, err := sums(t, api, "rows").Apply(t.Context(), applied(at(t, 1), plus(1)))
	if !errors.Is(err, down) || out != 0 || api.tries != 1 || err.Error() != "sums: Apply on table rows: down" {
		t.Errorf("Apply = %v, %v after %d attempts", out, err, api.tries)
	}
}
