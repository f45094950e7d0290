package dynamotest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// Every operation of the SDK's client that can report its price is asked for
// it, except SearchVectors, which is paid by the byte and consumes no units.
func TestEveryOperationIsAskedForItsPrice(t *testing.T) {
	t.Parallel()
	var sent any
	end := errors.New("nothing is sent")
	look := middleware.InitializeMiddlewareFunc("look", func(
		_ context.Context, in middleware.InitializeInput, _ middleware.InitializeHandler,
	) (out middleware.InitializeOutput, meta middleware.Metadata, err error) {
		sent = in.Parameters
		return out, meta, end
	})
	client := dynamotest.Connect("http://dynamotest.invalid", dynamotest.NewTap().Attach, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Insert(look, "AskForCapacity", middleware.After)
		})
	})
	asked := 0
	for name, method := range reflect.ValueOf(client).Methods() {
		if method.Type().NumIn() != 3 || method.Type().In(1).Kind() != reflect.Pointer || !method.Type().IsVariadic() {
			continue // not an operation
		}
		input := method.Type().In(1).Elem()
		if _, ok := input.FieldByName("ReturnConsumedCapacity"); !ok || name.Name == "SearchVectors" {
			continue
		}
		out := method.Call([]reflect.Value{reflect.ValueOf(t.Context()), reflect.New(input)})
		if err, _ := out[1].Interface().(error); !errors.Is(err, end) {
			t.Errorf("%s: %v", name.Name, err)
			continue
		}
		asked++
		if got := reflect.ValueOf(sent).Elem().FieldByName("ReturnConsumedCapacity").String(); got != "INDEXES" {
			t.Errorf("%s: asks for capacity %q", name.Name, got)
		}
	}
	if asked < 13 {
		t.Errorf("only %d operations have a price", asked)
	}
}

// statementsCost is the cost of statements that one operation sends.
func statementsCost(t *testing.T, tap *dynamotest.Tap, client *dynamodb.Client, op string, mode types.ReturnConsumedCapacity, list ...string) dynamotest.Cost {
	t.Helper()
	var batch []types.BatchStatementRequest
	var together []types.ParameterizedStatement
	for _, s := range list {
		batch = append(batch, types.BatchStatementRequest{Statement: aws.String(s)})
		together = append(together, types.ParameterizedStatement{Statement: aws.String(s)})
	}
	return tap.Meter(func() {
		var err error
		switch op {
		case "ExecuteStatement":
			_, err = client.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{Statement: aws.String(list[0]), ReturnConsumedCapacity: mode})
		case "BatchExecuteStatement":
			_, err = client.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: batch, ReturnConsumedCapacity: mode})
		case "ExecuteTransaction":
			_, err = client.ExecuteTransaction(t.Context(), &dynamodb.ExecuteTransactionInput{TransactStatements: together, ReturnConsumedCapacity: mode})
		}
		if err != nil {
			t.Errorf("%s %q: %v", op, list, err)
		}
	})
}

// otherBackend is a backend whose replies have no more members than DynamoDB's.
func otherBackend(t *testing.T) (*dynamotest.Tap, *dynamodb.Client) {
	t.Helper()
	db := dynamotest.New(t, nil)
	create(t, db)
	backend := httptest.NewServer(withoutPrices(db.Server().Handler()))
	t.Cleanup(backend.Close)
	tap := dynamotest.NewTap()
	return tap, dynamotest.Connect(backend.URL, tap.Attach)
}

// Only the request shows whether a statement reads or writes.
func TestStatementsArePricedOnAnotherBackend(t *testing.T) {
	t.Parallel()
	tap, client := otherBackend(t)
	if err := put(t.Context(), client, "orders", order("bo", 1)); err != nil {
		t.Fatal(err)
	}
	const (
		look   = "-- whose?\n  select * from \"orders\" WHERE \"customer\" = 'ann' AND \"number\" = 1"
		lookBo = `SELECT * FROM "orders" WHERE "customer" = 'bo' AND "number" = 1`
		exists = "EXISTS(" + lookBo + ` AND "day" = '2026-03-29')`
	)
	for _, mode := range []types.ReturnConsumedCapacity{"", types.ReturnConsumedCapacityTotal, types.ReturnConsumedCapacityIndexes} {
		for _, tt := range []struct {
			op         string
			statements []string
			want       dynamotest.Units
		}{
			{"ExecuteStatement", []string{insertAnn1}, dynamotest.Units{WCU: 2}},
			{"ExecuteStatement", []string{look}, dynamotest.Units{RCU: 0.5}},
			{"ExecuteStatement", []string{deleteAnn1}, dynamotest.Units{WCU: 2}},
			{"BatchExecuteStatement", []string{insertAnn1}, dynamotest.Units{WCU: 2}},
			{"BatchExecuteStatement", []string{look, lookBo}, dynamotest.Units{RCU: 1}},
			{"BatchExecuteStatement", []string{deleteAnn1}, dynamotest.Units{WCU: 2}},
			{"ExecuteTransaction", []string{insertAnn1}, dynamotest.Units{WCU: 3}},
			{"ExecuteTransaction", []string{look}, dynamotest.Units{RCU: 2}},
			{"ExecuteTransaction", []string{exists, deleteAnn1}, dynamotest.Units{WCU: 5}},
		} {
			if cost := statementsCost(t, tap, client, tt.op, mode, tt.statements...); cost.Units != tt.want || cost.Unpriced != 0 {
				t.Errorf("%s %q, capacity %q: got %v", tt.op, tt.statements, mode, cost)
			}
		}
	}
	if cost := statementsCost(t, tap, client, "ExecuteStatement", types.ReturnConsumedCapacityNone, look); cost.Unpriced != 1 {
		t.Errorf("who wants no price gets none: %v", cost)
	}
}

// A request that is not paid in units has no price here.
func TestBytesAreNoUnits(t *testing.T) {
	t.Parallel()
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"Results": [], "ConsumedCapacity": {"VectorSearchRequestBytes": 41714.0}}`)
	}))
	t.Cleanup(backend.Close)
	tap := dynamotest.NewTap()
	client := dynamotest.Connect(backend.URL, tap.Attach)
	cost := tap.Meter(func() {
		_, err := client.SearchVectors(t.Context(), &dynamodb.SearchVectorsInput{
			TableName: aws.String("orders"), IndexName: aws.String("near"), TopK: aws.Int32(1),
			SearchVector:           []types.AttributeValue{&types.AttributeValueMemberN{Value: "1"}},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err != nil {
			t.Error(err)
		}
	})
	if cost.Unpriced != 1 || len(cost.ByTable) != 0 || len(cost.RequestsByTable) != 0 {
		t.Errorf("got %v, requests by table %v", cost, cost.RequestsByTable)
	}
}

// A reply that breaks off is a request all the same. A request names a table once,
// however often its reply does.
func TestRequestsAreMeteredByTheirReplies(t *testing.T) {
	t.Parallel()
	const twice = `{"Responses":[{},{}],"ConsumedCapacity":[{"TableName":"t","CapacityUnits":1},{"TableName":"t","CapacityUnits":1}]}`
	for name, tt := range map[string]struct {
		body io.Reader
		want map[string]int
	}{
		"broken": {iotest.ErrReader(errors.New("reset")), map[string]int{}},
		"twice":  {strings.NewReader(twice), map[string]int{"t": 1}},
	} {
		tap := dynamotest.NewTap()
		client := tapped(tap, doer(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(tt.body)}, nil
		}))
		cost := tap.Meter(func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("{}"))
			r.Header.Set("X-Amz-Target", "DynamoDB_20120810.BatchExecuteStatement")
			_, _ = client.Do(r)
		})
		if cost.Requests != 1 || cost.ByOp["BatchExecuteStatement"] != 1 || cost.Depth != 1 || !reflect.DeepEqual(cost.RequestsByTable, tt.want) {
			t.Errorf("%s: %+v", name, cost)
		}
	}
}

// tapped is the HTTP client that Attach makes of next.
func tapped(tap *dynamotest.Tap, next dynamodb.HTTPClient) dynamodb.HTTPClient {
	o := dynamodb.Options{HTTPClient: next}
	tap.Attach(&o)
	return o.HTTPClient
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }
