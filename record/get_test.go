package record_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func TestGetAndAll(t *testing.T) {
	t.Parallel()
	db, _, rows := open(t)
	for i := range int64(5) {
		recordtest.Put(t, db.Client(), rows.Table().Name, ddb.Item{"pk": item.S("p"), "sk": item.S(strconv.Itoa(int(i))), "sum": item.N(i)})
	}
	recordtest.Put(t, db.Client(), rows.Table().Name, ddb.Item{"pk": item.S("q"), "sk": item.S("0"), "sum": item.N(9)})
	for _, consistent := range []bool{false, true} {
		var reads []bool // whether each read is consistent
		paged := recordtest.Between(db.Client(), func(in any, send recordtest.Send) (any, error) {
			switch in := in.(type) {
			case *dynamodb.GetItemInput:
				reads = append(reads, aws.ToBool(in.ConsistentRead))
			case *dynamodb.QueryInput:
				reads = append(reads, aws.ToBool(in.ConsistentRead))
				two := *in
				two.Limit = aws.Int32(2)
				return send(&two)
			}
			return send(in)
		})
		rows := sumsRead(t, paged, rows.Table().Name, consistent)
		if got, ok, err := rows.Get(t.Context(), "p", "3"); got != 3 || !ok || err != nil {
			t.Errorf("Get = %v, %v, %v, want 3", got, ok, err)
		}
		if got, ok, err := rows.Get(t.Context(), "p", "5"); got != 0 || ok || err != nil {
			t.Errorf("Get of nothing = %v, %v, %v", got, ok, err)
		}
		all, err := rows.All(t.Context(), "p")
		if diff := cmp.Diff([]int64{0, 1, 2, 3, 4}, all); diff != "" || err != nil {
			t.Errorf("All: %v (-want +got):\n%s", err, diff)
		}
		if all, err := rows.All(t.Context(), "nobody"); all != nil || err != nil {
			t.Errorf("All of nobody = %v, %v, want nil", all, err)
		}
		if diff := cmp.Diff([]bool{consistent, consistent, consistent, consistent, consistent, consistent}, reads); diff != "" {
			t.Errorf("reads (-want +got):\n%s", diff)
		}
	}
}

// A row that cannot be read is an error which names the method, and no value.
func TestRowsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	db, _, rows := open(t)
	put(t, db, rows.Table().Name, `, "sum": {"S": "many"}`)
	got, ok, err := rows.Get(t.Context(), "p", "s")
	if want := "sums: Get on table " + rows.Table().Name + ": attribute sum"; got != 0 || ok || err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Get = %v, %v, %v, want %s…", got, ok, err, want)
	}
	all, err := rows.All(t.Context(), "p")
	if want := "sums: All on table " + rows.Table().Name + ": attribute sum"; all != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("All = %v, %v, want %s…", all, err, want)
	}
}

// Bad events are refused before anything is sent.
func TestApplyRefusesEventsAhead(t *testing.T) {
	t.Parallel()
	rows := sums(t, recordtest.Silent(t), "rows")
	for _, ev := range []event.Event{{}, recordtest.Event(t, now.Add(event.MaxAhead+time.Second), "ahead")} {
		out, err := rows.Apply(t.Context(), applied(ev, plus(1)))
		recordtest.WantBad(t, err, "sums", "Event", ev)
		if out != 0 {
			t.Errorf("Apply = %v, %v", out, err)
		}
	}
}
