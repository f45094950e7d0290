package record_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/record"
)

// An action of one's own answers from the row that refused it, or says why it failed.
func TestAction(t *testing.T) {
	t.Parallel()
	refused := func(row record.Item) (string, error) {
		f := record.Read(row)
		return "stands: " + f.Text("status"), f.Err()
	}
	failed := func(err error) error { return fmt.Errorf("status: %w", err) }
	item := types.TransactWriteItem{Put: &types.Put{TableName: aws.String("rows")}}
	a := record.NewAction(item, "written", refused, failed)
	if a.Item.Put != item.Put || a.Committed() != "written" {
		t.Errorf("%+v, %s", a.Item, a.Committed())
	}
	row := record.Item{"status": record.Text("paid")}
	for code, want := range map[string]struct{ answer, err string }{
		"None":                   {},
		"ConditionalCheckFailed": {answer: "stands: paid"},
		"TransactionConflict":    {err: "status: api error TransactionConflict: "},
	} {
		got, err := a.Outcome(types.CancellationReason{Code: &code, Item: row})
		if got != want.answer || (err == nil) != (want.err == "") || err != nil && err.Error() != want.err {
			t.Errorf("%s: %q, %v", code, got, err)
		}
	}
	if got, err := a.Outcome(types.CancellationReason{}); got != "" || err != nil {
		t.Errorf("no code: %q, %v", got, err)
	}
}
