package names_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/names"
)

func renamed(t *testing.T) *names.Names {
	t.Helper()
	n, err := names.New("ledger", map[string]string{"result": "answer"}, []string{"pk", "result", "data"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Another program's "result" is not the ledger's, and is written back as it was.
func TestReadOfAnotherProgramsAttribute(t *testing.T) {
	t.Parallel()
	n := renamed(t)
	for name, tc := range map[string]struct {
		stored ddb.Item
		result string
	}{
		"both":           {ddb.Item{"pk": item.S("k"), "answer": item.S("ours"), "result": item.S("theirs")}, "ours"},
		"only another's": {ddb.Item{"pk": item.S("k"), "result": item.S("theirs")}, ""},
	} {
		read := n.Read(tc.stored)
		if got := item.Text(read, "result"); got != tc.result {
			t.Errorf("%s: result is read as %q, want %q", name, got, tc.result)
		}
		if again := n.Stored(read); !reflect.DeepEqual(again, tc.stored) {
			t.Errorf("%s: stored as %v, was %v", name, again, tc.stored)
		}
	}
}

// recorder is a client that keeps the last query.
type recorder struct{ in *dynamodb.QueryInput }

func (r *recorder) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	r.in = in
	return &dynamodb.QueryOutput{}, nil
}

// An entry of a map is the caller's: it keeps its name, even if an attribute of
// that name has another one in the table.
func TestEntriesOfMapsKeepTheirNames(t *testing.T) {
	t.Parallel()
	var r recorder
	_, err := names.Client[dynamodb.QueryAPIClient](renamed(t), &r).Query(t.Context(), &dynamodb.QueryInput{
		FilterExpression:         aws.String("#0.#1 = :v AND #2 = :v"),
		ExpressionAttributeNames: map[string]string{"#0": "data", "#1": "result", "#2": "result"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"#0": "data", "#1": "result", "#2": "answer"}
	if diff := cmp.Diff(want, r.in.ExpressionAttributeNames); diff != "" {
		t.Error(diff)
	}
}
