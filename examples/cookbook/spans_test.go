package cookbook_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/smithy-go/tracing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/ledger"
)

// recorder notes the spans of requests, each with its table.
type recorder struct{ noted []string }

type recorded struct {
	tracing.Span // of no provider
	to           *recorder
}

func (r *recorder) Tracer(string, ...tracing.TracerOption) tracing.Tracer { return r }

func (r *recorder) StartSpan(ctx context.Context, name string, _ ...tracing.SpanOption) (context.Context, tracing.Span) {
	_, span := tracing.NopTracerProvider{}.Tracer("").StartSpan(ctx, name)
	if strings.HasPrefix(name, "DynamoDB.") { // else a part of one
		span, r.noted = recorded{span, r}, append(r.noted, name)
	}
	return tracing.WithSpan(ctx, span), span
}

func (s recorded) SetProperty(key, value any) {
	if key == "aws.dynamodb.table_names" {
		s.to.noted = append(s.to.noted, fmt.Sprint(value))
	}
}

// Work under Do is two requests, and a replay is one.
func TestSpans(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	newLedger(t, db, "seen")
	spans := &recorder{}
	seen, err := ledger.New(db.Server().Client(cookbook.Spans(spans)), "seen", nil)
	for range 2 {
		if err == nil {
			_, err = ledger.Do(t.Context(), seen, ledger.Request{Key: "ORDER:1001"}, func(context.Context, *ledger.Claim) (int, error) { return 1, nil })
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(spans.noted, " "); got != strings.TrimSpace(strings.Repeat("DynamoDB.UpdateItem [seen] ", 3)) {
		t.Error(got)
	}
}
