package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/filter"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/payload"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

func composed(t testing.TB, attributes []filter.Attribute, data ...record.Compare) filter.Filter {
	t.Helper()
	f, err := filter.New("activity", "Range.Match.Data", attributes, data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every condition counts, every name has an alias, and the names of the query stay.
func TestExpression(t *testing.T) {
	t.Parallel()
	in := &dynamodb.QueryInput{
		ExpressionAttributeNames: map[string]string{"#scope": "chatId"}, ExpressionAttributeValues: ddb.Item{":scope": item.S("x")},
	}
	composed(t, []filter.Attribute{{Name: "type", Value: item.S("order")}, {Name: "userId", Value: item.N(42)}},
		record.Compare{Name: "cents", Op: ">=", Value: 500}, record.Compare{Name: "paid", Op: "=", Value: true},
		record.Compare{Name: "cents", Op: "<", Value: 900.5}).Apply(in)
	const want = "((((#0 = :0) AND (#1 = :1)) AND (#2.#3 >= :2)) AND (#2.#4 = :3)) AND (#2.#5 < :4)"
	if got := aws.ToString(in.FilterExpression); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	names := map[string]string{"#scope": "chatId", "#0": "type", "#1": "userId", "#2": "data", "#3": "cents", "#4": "paid", "#5": "cents"}
	if diff := cmp.Diff(names, in.ExpressionAttributeNames); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// Each filter has an ID of its own, and always the same one.
func TestID(t *testing.T) {
	t.Parallel()
	ids := map[string]int{}
	for i, data := range [][]record.Compare{
		{},
		{{Name: "x", Value: 1}},
		{{Name: "x", Value: "1"}},
		{{Name: "x", Value: true}},
		{{Name: "y", Value: 1}},
		{{Name: "x", Op: ">", Value: 1}},
		{{Name: "x", Value: 1}, {Name: "y", Value: 2}},
	} {
		id := composed(t, nil, data...).ID()
		if other, ok := ids[id]; ok {
			t.Errorf("%d and %d are one: %q", other, i, id)
		}
		ids[id] = i
		if again := composed(t, nil, data...).ID(); again != id {
			t.Errorf("%q, and then %q", id, again)
		}
	}
	if composed(t, nil, record.Compare{Name: "x", Op: "=", Value: 1.0}).ID() != composed(t, nil, record.Compare{Name: "x", Value: 1}).ID() {
		t.Error("one filter has two IDs")
	}
}

func TestFilterRefuses(t *testing.T) {
	t.Parallel()
	many := make([]record.Compare, 33)
	for i := range many {
		many[i] = record.Compare{Name: "x", Value: i}
	}
	for field, all := range map[string][][]record.Compare{
		"Range.Match.Data":          {many},
		"Range.Match.Data[0].Name":  {{{Value: 1}}, {{Name: strings.Repeat("x", 256), Value: 1}}, {{Name: "\xff", Value: 1}}},
		"Range.Match.Data[0].Value": {{{Name: "x"}}, {{Name: "x", Value: []int{1}}}, {{Name: "x", Value: "\xff"}}},
		"Range.Match.Data[1].Op":    {{{Name: "x", Value: 1}, {Name: "x", Op: "<>", Value: 1}}, {{Name: "x", Value: 1}, {Name: "x", Op: ">", Value: true}}},
	} {
		for _, data := range all {
			_, err := filter.New("activity", "Range.Match.Data", nil, data)
			recordtest.WantBad(t, err, "activity", field, data)
			if strings.HasSuffix(field, ".Name") && !strings.HasSuffix(err.Error(), ": Range.Match.Data[0].Name must be 1 to 255 bytes of UTF-8") {
				t.Errorf("a bad name says %q", err)
			}
		}
	}
	if _, err := filter.New("activity", "x", nil, many[:32]); err != nil {
		t.Error(err)
	}
}

// A filter finds the right rows, even by names that an expression would read as
// a path, and if entries are absent or have another type.
func TestFilterFinds(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := db.Name("orders")
	recordtest.Create(t, db.Client(), schema.Table{Name: table, Key: schema.Key{Partition: schema.String("pk"), Sort: schema.Number("sk")}})
	names := []string{"cents", "to.city", "to[0]", "to", "[", "]", "a b", "#0", ":0", "åäö", "name0", "data", "size", strings.Repeat("x", 255)}
	for i, name := range names {
		for j, value := range []any{500, "500", true} {
			row := ddb.Item{"pk": item.S("o"), "sk": item.N(int64(10*i + j))}
			if err := payload.Encode("activity", row, map[string]any{name: value}); err != nil {
				t.Fatal(err)
			}
			recordtest.Put(t, db.Client(), table, row)
		}
	}
	find := func(f filter.Filter) []string {
		in := &dynamodb.QueryInput{
			TableName: &table, KeyConditionExpression: aws.String("#pk = :pk"),
			ExpressionAttributeNames: map[string]string{"#pk": "pk"}, ExpressionAttributeValues: ddb.Item{":pk": item.S("o")},
		}
		f.Apply(in)
		out, err := db.Client().Query(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range out.Items {
			got = append(got, item.Text(row, "sk"))
		}
		return got
	}
	for i, name := range names {
		number, text, flag := fmt.Sprint(10*i), fmt.Sprint(10*i+1), fmt.Sprint(10*i+2)
		for _, tc := range []struct {
			op    string
			value any
			want  []string
		}{
			{"", 500, []string{number}},
			{"=", "500", []string{text}},
			{"", true, []string{flag}},
			{">", 499.5, []string{number}},
			{">", 500, nil},
			{"<=", 500, []string{number}},
			{"<", "6", []string{text}},
		} {
			got := find(composed(t, nil, record.Compare{Name: name, Op: tc.op, Value: tc.value}))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s %s %v (-want +got):\n%s", name, tc.op, tc.value, diff)
			}
		}
	}
}
