package dynamotest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// A batch of statements succeeds as a whole: each statement has its own
// response.
func ExampleFault_statement() {
	ctx := context.Background()
	srv := dynamotest.NewServer(nil)
	if err := schema.Create(ctx, srv.Client(), orders("orders")); err != nil {
		log.Fatal(err)
	}
	srv.Tap().Inject(dynamotest.Fault{
		Do:  dynamotest.Throttle,
		Key: map[string]types.AttributeValue{"customer": &types.AttributeValueMemberS{Value: "ann"}},
	})
	out, err := srv.Client().BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{
		{Statement: aws.String(`INSERT INTO "orders" VALUE {'customer': 'ann', 'number': 1}`)},
		{Statement: aws.String(`INSERT INTO "orders" VALUE {'customer': 'bo', 'number': 1}`)},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, response := range out.Responses {
		if response.Error != nil {
			fmt.Println(response.Error.Code, *response.TableName)
		} else {
			fmt.Println("done")
		}
	}
	// Output:
	// ThrottlingError orders
	// done
}

func TestAStatementMeetsFaults(t *testing.T) {
	t.Parallel()
	const byDay = `SELECT * FROM "orders"."by-day" WHERE "day" = 'x'`
	ann, bo := orderKey("ann", 1), orderKey("bo", 1)
	annAlone := map[string]types.AttributeValue{"customer": ann["customer"]}
	for _, tt := range []struct {
		name      string
		fault     dynamotest.Fault
		statement string
		want      string // of the error, and of its reason
		rows      int
	}{
		{"throttled read", dynamotest.Fault{Do: dynamotest.Throttle}, selectAnn1, "ThrottlingException TableReadKeyRangeThroughputExceeded table/orders", 0},
		{"throttled write", dynamotest.Fault{Do: dynamotest.Throttle}, insertAnn1, "ThrottlingException TableWriteKeyRangeThroughputExceeded table/orders", 0},
		{"throttled update", dynamotest.Fault{Do: dynamotest.Throttle}, updateAnn1, "ThrottlingException TableWriteKeyRangeThroughputExceeded table/orders", 0},
		{"throttled index", dynamotest.Fault{Do: dynamotest.Throttle}, byDay, "ThrottlingException IndexReadKeyRangeThroughputExceeded table/orders/index/by-day", 0},
		{"an index read", dynamotest.Fault{Do: dynamotest.Throttle, Index: "by-day", Table: "orders"}, byDay, "ThrottlingException IndexReadKeyRangeThroughputExceeded table/orders/index/by-day", 0},
		{"an index not read", dynamotest.Fault{Do: dynamotest.Throttle, Index: "by-day"}, selectAnn1, "<nil>", 0},
		{"an insert held back", dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day"), Table: "orders"}, insertAnn1, "ThrottlingException IndexWriteKeyRangeThroughputExceeded table/orders/index/by-day", 0},
		{"an update held back", dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day"), Key: ann}, updateAnn1, "ThrottlingException IndexWriteKeyRangeThroughputExceeded table/orders/index/by-day", 0},
		{"a delete held back", dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day")}, deleteAnn1, "ThrottlingException IndexWriteKeyRangeThroughputExceeded table/orders/index/by-day", 0},
		{"no such index", dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-week")}, insertAnn1, "<nil>", 1},
		{"a read held back", dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day")}, byDay, "<nil>", 0},
		{"held back elsewhere", dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day"), Key: bo}, insertAnn1, "<nil>", 1},
		{"conflict", dynamotest.Fault{Do: dynamotest.Conflict}, insertAnn1, "TransactionConflictException", 0},
		{"conflict of an update", dynamotest.Fault{Do: dynamotest.Conflict}, updateAnn1, "TransactionConflictException", 0},
		{"conflict of a read", dynamotest.Fault{Do: dynamotest.Conflict}, selectAnn1, "<nil>", 0},
		{"internal error", dynamotest.Fault{Do: dynamotest.InternalError}, insertAnn1, "InternalServerError", 0},
		{"internal error after", dynamotest.Fault{Do: dynamotest.InternalError.After()}, insertAnn1, "InternalServerError", 1},
		{"unavailable", dynamotest.Fault{Do: dynamotest.Unavailable}, insertAnn1, "ServiceUnavailable", 0},
		{"another table", dynamotest.Fault{Do: dynamotest.InternalError, Table: "another"}, insertAnn1, "<nil>", 1},
		{"the table", dynamotest.Fault{Do: dynamotest.InternalError, Table: "orders"}, selectAll, "InternalServerError", 0},
		{"another key", dynamotest.Fault{Do: dynamotest.InternalError, Key: bo}, insertAnn1, "<nil>", 1},
		{"the key inserted", dynamotest.Fault{Do: dynamotest.InternalError, Key: ann}, insertAnn1, "InternalServerError", 0},
		{"the key updated", dynamotest.Fault{Do: dynamotest.InternalError, Key: ann}, updateAnn1, "InternalServerError", 0},
		{"the key deleted", dynamotest.Fault{Do: dynamotest.InternalError, Key: ann}, deleteAnn1, "InternalServerError", 0},
		{"the key selected", dynamotest.Fault{Do: dynamotest.InternalError, Key: ann}, selectAnn1, "InternalServerError", 0},
		{"parameters", dynamotest.Fault{Do: dynamotest.InternalError, Key: bo}, selectBo1, "InternalServerError", 0},
		{"inserted parameters", dynamotest.Fault{Do: dynamotest.InternalError, Key: bo}, insertBo1, "InternalServerError", 0},
		{"a partition selected", dynamotest.Fault{Do: dynamotest.InternalError, Key: annAlone}, selectOfAnn, "InternalServerError", 0},
		{"a partition is no item", dynamotest.Fault{Do: dynamotest.InternalError, Key: ann}, selectOfAnn, "<nil>", 0},
		{"all", dynamotest.Fault{Do: dynamotest.InternalError, Key: annAlone}, selectAll, "<nil>", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := dynamotest.New(t, nil)
			table := create(t, db)
			tt.fault.Op = "ExecuteStatement"
			db.Inject(tt.fault)
			_, err := execute(t, once(db.Client()), tt.statement)
			got := errorCode(err)
			var throttled *types.ThrottlingException
			if errors.As(err, &throttled) {
				why := throttled.ThrottlingReasons[0]
				_, resource, _ := strings.Cut(*why.Resource, "123456789012:")
				got += " " + *why.Reason + " " + resource
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if idle := db.Tap().Heal(); (len(idle) == 1) != (tt.want == "<nil>") {
				t.Errorf("idle faults: %q", idle)
			}
			if n := count(t, db.Client(), table); n != tt.rows {
				t.Errorf("%d rows, want %d", n, tt.rows)
			}
		})
	}
}

func TestStatementsOfABatchMeetFaultsEach(t *testing.T) {
	t.Parallel()
	ann, bo := orderKey("ann", 1), orderKey("bo", 1)
	inserts, selects := []string{insertAnn1, insertBo1}, []string{selectAnn1, selectBo1}
	for _, tt := range []struct {
		name       string
		faults     []dynamotest.Fault
		statements []string
		want       []string
		idle       int
	}{
		{"both throttled", []dynamotest.Fault{{Do: dynamotest.Throttle}}, selects, []string{"ThrottlingError", "ThrottlingError"}, 0},
		{"one throttled", []dynamotest.Fault{{Do: dynamotest.Throttle, Key: bo}}, selects, []string{"", "ThrottlingError"}, 0},
		{"conflict", []dynamotest.Fault{{Do: dynamotest.Conflict, Key: ann}}, inserts, []string{"TransactionConflict", ""}, 0},
		{"conflict of reads", []dynamotest.Fault{{Do: dynamotest.Conflict}}, selects, []string{"", ""}, 1},
		{"unprocessed", []dynamotest.Fault{{Do: dynamotest.Unprocessed.Last(1)}}, inserts, []string{"", "InternalServerError"}, 0},
		{"held back by an index", []dynamotest.Fault{{Do: dynamotest.Throttle.ByIndex("by-day"), Op: "BatchExecuteStatement", Key: bo}}, inserts, []string{"", "ThrottlingError"}, 0},
		{"no write to hold back", []dynamotest.Fault{{Do: dynamotest.Throttle.ByIndex("by-day"), Op: "BatchExecuteStatement"}}, selects, []string{"", ""}, 1},
		{"two at once", []dynamotest.Fault{{Do: dynamotest.Throttle, Key: ann}, {Do: dynamotest.Conflict, Key: bo}}, inserts, []string{"ThrottlingError", "TransactionConflict"}, 0},
		{"two of one statement", []dynamotest.Fault{{Do: dynamotest.Throttle, Key: ann}, {Do: dynamotest.Conflict, Key: ann}}, inserts, []string{"ThrottlingError", ""}, 1},
		{"they add up", []dynamotest.Fault{{Do: dynamotest.Unprocessed.Last(1)}, {Do: dynamotest.Unprocessed.Last(1)}}, inserts, []string{"InternalServerError", "InternalServerError"}, 0},
		{"no statement", []dynamotest.Fault{{Do: dynamotest.Throttle}}, []string{"nonsense"}, []string{"ProvisionedThroughputExceeded"}, 0},
		{"no statement besides", []dynamotest.Fault{{Do: dynamotest.Throttle, Key: ann}}, []string{"nonsense", insertAnn1}, []string{"ValidationError", "ThrottlingError"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := dynamotest.New(t, nil)
			table := create(t, db)
			rows := 0
			for i, code := range tt.want {
				if code == "" && strings.HasPrefix(tt.statements[i], "INSERT") {
					rows++
				}
			}
			for _, f := range tt.faults {
				db.Inject(f)
			}
			codes, _ := executeBatch(t, db.Client(), tt.statements...)
			if diff := cmp.Diff(tt.want, codes); diff != "" {
				t.Error(diff)
			}
			if idle := db.Tap().Heal(); len(idle) != tt.idle {
				t.Errorf("idle faults: %q", idle)
			}
			if n := count(t, db.Client(), table); n != rows {
				t.Errorf("%d rows, want %d", n, rows)
			}
		})
	}
}

// If a whole batch is refused, faults of its statements stay due for the next
// one.
func TestABatchOfStatementsIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	for do, code := range map[dynamotest.Effect]string{dynamotest.InternalError: "InternalServerError", dynamotest.Unavailable: "ServiceUnavailable"} {
		db := dynamotest.New(t, nil)
		create(t, db)
		db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Key: orderKey("ann", 1)})
		db.Inject(dynamotest.Fault{Do: do, Op: "BatchExecuteStatement", Table: "orders", Key: orderKey("bo", 1)})
		_, err := once(db.Client()).BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{
			{Statement: aws.String(insertAnn1)}, {Statement: aws.String(insertBo1), Parameters: parametersOf(insertBo1)},
		}})
		if errorCode(err) != code {
			t.Errorf("%v: %v", do, err)
		}
		if codes, _ := executeBatch(t, db.Client(), insertAnn1, insertBo1); codes[0] != "ThrottlingError" || codes[1] != "" {
			t.Errorf("%v: and then %q", do, codes)
		}
	}
}

func TestATransactionOfStatementsIsCancelled(t *testing.T) {
	t.Parallel()
	for do, code := range map[dynamotest.Effect]string{dynamotest.Conflict: "TransactionConflict", dynamotest.Throttle: "ThrottlingError"} {
		for _, statements := range [][]string{{insertAnn1, insertBo1}, {selectAnn1, selectBo1}} {
			db := dynamotest.New(t, nil)
			table := create(t, db)
			db.Inject(dynamotest.Fault{Do: do, Table: table, Key: orderKey("bo", 1)})
			var cancelled *types.TransactionCanceledException
			cost := db.Meter(func() {
				if err := executeTogether(t, db.Client(), statements...); !errors.As(err, &cancelled) {
					t.Fatalf("%v: %v", do, err)
				}
			})
			if got := []string{*cancelled.CancellationReasons[0].Code, *cancelled.CancellationReasons[1].Code}; !cmp.Equal(got, []string{"None", code}) {
				t.Errorf("%v: reasons %q", do, got)
			}
			if n := count(t, db.Client(), table); n != 0 || cost.Requests != 1 {
				t.Errorf("%v: %d rows, %v", do, n, cost)
			}
			if err := executeTogether(t, db.Client(), statements...); err != nil {
				t.Errorf("%v: and then %v", do, err)
			}
		}
	}
}

// The reason why a statement was throttled is reported where the reply has a
// member for it.
func TestStatementsTogetherAreHeldBackByAnIndex(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	table := create(t, db)
	const ofIndex = "global secondary indexes"
	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day"), Op: "ExecuteTransaction", Table: table, Key: orderKey("bo", 1)})
	var cancelled *types.TransactionCanceledException
	if err := executeTogether(t, db.Client(), insertAnn1, insertBo1); !errors.As(err, &cancelled) {
		t.Fatal(err)
	}
	if why := cancelled.CancellationReasons; *why[0].Code != "None" || *why[1].Code != "ThrottlingError" || !strings.Contains(*why[1].Message, ofIndex) {
		t.Errorf("transaction: %v", cancelled)
	}
	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day"), Op: "BatchExecuteStatement", Table: table})
	out, err := db.Client().BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{{Statement: aws.String(insertAnn1)}}})
	if err != nil {
		t.Fatal(err)
	}
	if wrong := out.Responses[0].Error; wrong == nil || !strings.Contains(*wrong.Message, ofIndex) {
		t.Errorf("batch: %v", wrong)
	}
	if n := count(t, db.Client(), table); n != 0 {
		t.Errorf("%d rows", n)
	}
}

// The transport understands statements, on every backend.
func TestStatementsAreLostByTheirKeys(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := create(t, db)
	client := once(db.Client())
	insert := func(customer string) types.BatchStatementRequest {
		return types.BatchStatementRequest{
			Statement:  aws.String(fmt.Sprintf(`INSERT INTO "%s" VALUE {'customer': ?, 'number': 1}`, table)),
			Parameters: []types.AttributeValue{&types.AttributeValueMemberS{Value: customer}},
		}
	}
	batch := func(customers ...string) error {
		var in []types.BatchStatementRequest
		for _, c := range customers {
			in = append(in, insert(c))
		}
		_, err := client.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: in})
		return err
	}
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Table: table, Key: orderKey("ann", 1)})
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Table: table, Key: map[string]types.AttributeValue{"customer": orderKey("cy", 1)["customer"]}})
	if err := batch("bo"); err != nil {
		t.Errorf("another key: %v", err)
	}
	if batch("di", "ann") == nil || batch("cy") == nil || count(t, db.Client(), table) != 3 {
		t.Errorf("%d rows", count(t, db.Client(), table))
	}
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Key: orderKey("bo", 1)})
	transaction := func(customer string) error {
		_, err := client.ExecuteTransaction(t.Context(), &dynamodb.ExecuteTransactionInput{TransactStatements: []types.ParameterizedStatement{{
			Statement:  aws.String(fmt.Sprintf(`UPDATE "%s" SET paid = true WHERE customer = ? AND number = 1`, table)),
			Parameters: insert(customer).Parameters,
		}}})
		return err
	}
	if err := transaction("ann"); err != nil {
		t.Errorf("another key: %v", err)
	}
	if transaction("bo") == nil {
		t.Error("the transaction was not lost")
	}
}
