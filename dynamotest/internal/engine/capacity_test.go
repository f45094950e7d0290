package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// price writes a cost as "table 1w, index 1w": units of the table, then of each
// index.
func price(cost capacity.Cost) string {
	var parts []string
	units := func(name string, u capacity.Units) {
		if u.Read > 0 {
			parts = append(parts, fmt.Sprintf("%s %gr", name, u.Read))
		}
		if u.Write > 0 {
			parts = append(parts, fmt.Sprintf("%s %gw", name, u.Write))
		}
	}
	for _, c := range cost {
		units(c.Table, c.Base)
		for _, x := range c.Indexes {
			units(x.Index, x.Units)
		}
	}
	return strings.Join(parts, ", ")
}

// song is an item of about kb KB, with the attributes given.
func song(n, kb int, attributes string) string {
	return fmt.Sprintf(`{"artist":{"S":"abba"},"song":{"N":"%d"}%s,"words":{"S":"%s"}}`, n, attributes, strings.Repeat("x", kb*1000))
}

func TestPrices(t *testing.T) {
	t.Parallel()
	const (
		pop  = `,"genre":{"S":"pop"}`
		year = `,"year":{"N":"1974"}`
		key  = `"Key":{"artist":{"S":"abba"},"song":{"N":"1"}}`
	)
	putSong := func(it string) string { return `{"TableName":"music","Item":` + it + `}` }
	update := func(expression, more string) string {
		return fmt.Sprintf(`{"TableName":"music",%s,"UpdateExpression":%q%s}`, key, expression, more)
	}
	query := func(more string) string {
		return `{"TableName":"music","KeyConditionExpression":"artist = :a","ExpressionAttributeValues":{":a":{"S":"abba"}}` + more + `}`
	}
	pops := func(index, more string) string {
		return `{"TableName":"music","IndexName":"` + index + `","KeyConditionExpression":"genre = :g","ExpressionAttributeValues":{":g":{"S":"pop"}}` + more + `}`
	}
	never := `,"ConditionExpression":"attribute_exists(nothing)"`
	tests := []struct {
		name string
		seed []string // items to put first
		op   string
		body string
		want string
	}{
		{"a small put", nil, "PutItem", putSong(song(1, 0, "")), "music 1w"},
		{"a put of 3 KB", nil, "PutItem", putSong(song(1, 3, "")), "music 3w"},
		{"a small put over 3 KB", []string{song(1, 3, "")}, "PutItem", putSong(song(1, 0, "")), "music 3w"},
		{"a put into every index", nil, "PutItem", putSong(song(1, 0, pop+year)), "music 1w, by-year 1w, genre-year 1w, genre-title 1w"},
		{"a put into the index without a sort key", nil, "PutItem", putSong(song(1, 0, pop)), "music 1w, genre-title 1w"},
		{"a large put into indexes that take little of it", nil, "PutItem", putSong(song(1, 3, pop+year)), "music 3w, by-year 1w, genre-year 3w, genre-title 1w"},
		{"the same put again", []string{song(1, 3, pop+year)}, "PutItem", putSong(song(1, 3, pop+year)), "music 3w"},
		{"a change that one index holds", []string{song(1, 0, pop+year)}, "UpdateItem", update("REMOVE words", ""), "music 1w, genre-year 1w"},
		{
			"a change of an index key",
			[]string{song(1, 0, pop+year)},
			"UpdateItem",
			update("SET genre = :g", `,"ExpressionAttributeValues":{":g":{"S":"rock"}}`), "music 1w, genre-year 2w, genre-title 2w",
		},
		{"leaving the indexes", []string{song(1, 0, pop+year)}, "UpdateItem", update("REMOVE genre", ""), "music 1w, genre-year 1w, genre-title 1w"},
		{"a delete", []string{song(1, 3, pop+year)}, "DeleteItem", `{"TableName":"music",` + key + `}`, "music 3w, by-year 1w, genre-year 3w, genre-title 1w"},
		{"a delete of nothing", nil, "DeleteItem", `{"TableName":"music",` + key + `}`, "music 1w"},
		{"a refused put", []string{song(1, 3, pop+year)}, "PutItem", `{"TableName":"music","Item":` + song(1, 0, pop) + never + `}`, "music 3w"},
		{"a refused large put", []string{song(1, 0, "")}, "PutItem", `{"TableName":"music","Item":` + song(1, 5, "") + never + `}`, "music 5w"},
		{"a refused put of nothing", nil, "PutItem", `{"TableName":"music","Item":` + song(1, 0, "") + never + `}`, "music 1w"},
		{"a refused update", []string{song(1, 2, pop)}, "UpdateItem", update("REMOVE genre", never), "music 2w"},
		{"a refused delete", []string{song(1, 2, pop)}, "DeleteItem", `{"TableName":"music",` + key + never + `}`, "music 2w"},
		{"a put that is no request at all", nil, "PutItem", `{"TableName":"music","Item":{}}`, ""},

		{"a get", []string{song(1, 0, "")}, "GetItem", `{"TableName":"music",` + key + `}`, "music 0.5r"},
		{"a consistent get", []string{song(1, 0, "")}, "GetItem", `{"TableName":"music","ConsistentRead":true,` + key + `}`, "music 1r"},
		{"a get of nothing", nil, "GetItem", `{"TableName":"music",` + key + `}`, "music 0.5r"},
		{"a get of 9 KB of which little is shown", []string{song(1, 9, "")}, "GetItem", `{"TableName":"music","ProjectionExpression":"song",` + key + `}`, "music 1.5r"},

		{"a query sums before it rounds", []string{song(1, 1, ""), song(2, 1, ""), song(3, 1, "")}, "Query", query(""), "music 0.5r"},
		{"a query of 5 KB", []string{song(1, 3, ""), song(2, 2, "")}, "Query", query(""), "music 1r"},
		{"a consistent query of 5 KB", []string{song(1, 3, ""), song(2, 2, "")}, "Query", query(`,"ConsistentRead":true`), "music 2r"},
		{"a filter saves nothing", []string{song(1, 3, ""), song(2, 2, "")}, "Query", query(`,"FilterExpression":"attribute_exists(nothing)"`), "music 1r"},
		{"a limit does", []string{song(1, 3, ""), song(2, 2, "")}, "Query", query(`,"Limit":1`), "music 0.5r"},
		{"an empty query", nil, "Query", query(""), "music 0.5r"},
		{"a query of an index that holds all", []string{song(1, 9, pop+year)}, "Query", pops("genre-year", ""), "genre-year 1.5r"},
		{"a query of an index that holds little", []string{song(1, 9, pop+year)}, "Query", pops("genre-title", ""), "genre-title 0.5r"},
		{"a query that fetches from the table", []string{song(1, 9, year), song(2, 0, year)}, "Query", query(`,"IndexName":"by-year","Select":"ALL_ATTRIBUTES"`), "music 2r, by-year 0.5r"},
		{"a scan", []string{song(1, 3, ""), song(2, 2, "")}, "Scan", `{"TableName":"music"}`, "music 1r"},

		{
			"a batch rounds each get",
			[]string{song(1, 0, ""), song(2, 5, "")},
			"BatchGetItem",
			`{"RequestItems":{"music":{"Keys":[{"artist":{"S":"abba"},"song":{"N":"1"}},{"artist":{"S":"abba"},"song":{"N":"2"}},{"artist":{"S":"abba"},"song":{"N":"3"}}]}}}`, "music 2r",
		},
		{
			"a batch of writes",
			[]string{song(1, 2, "")},
			"BatchWriteItem",
			`{"RequestItems":{"music":[{"DeleteRequest":{"Key":{"artist":{"S":"abba"},"song":{"N":"1"}}}},{"PutRequest":{"Item":` + song(2, 0, pop) + `}}]}}`, "music 3w, genre-title 1w",
		},
		{
			"a transaction doubles the table only",
			[]string{song(2, 3, "")},
			"TransactWriteItems",
			`{"TransactItems":[{"Put":{"TableName":"music","Item":` + song(1, 0, pop) + `}},
			{"ConditionCheck":{"TableName":"music","Key":{"artist":{"S":"abba"},"song":{"N":"2"}},"ConditionExpression":"attribute_exists(song)"}}]}`, "music 8w, genre-title 1w",
		},
		{
			"a cancelled transaction",
			[]string{song(1, 3, "")},
			"TransactWriteItems",
			`{"TransactItems":[{"Put":{"TableName":"music","Item":` + song(1, 0, "") + never + `}},{"Put":{"TableName":"music","Item":` + song(2, 0, pop) + `}}]}`, "music 8w",
		},
		{
			"a transaction of gets",
			[]string{song(1, 5, "")},
			"TransactGetItems",
			`{"TransactItems":[{"Get":{"TableName":"music",` + key + `}},{"Get":{"TableName":"plain","Key":{"id":{"S":"x"}}}}]}`, "music 4r, plain 2r",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			eng := newEngine(t, engine.Options{})
			for _, it := range tt.seed {
				do(t, eng, "PutItem", putSong(it))
			}
			if got := price(eng.Do(t.Context(), tt.op, []byte(tt.body)).Cost); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAReplayedTransactionCostsReads(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	body := []byte(`{"ClientRequestToken":"token","TransactItems":[{"Put":{"TableName":"music","Item":` + song(1, 5, "") + `}}]}`)
	for _, want := range []string{"music 10w", "music 4r"} {
		if got := price(eng.Do(context.Background(), "TransactWriteItems", body).Cost); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestConsumedCapacityInReplies(t *testing.T) {
	t.Parallel()
	put := func(mode string) string {
		return `{"TableName":"music","ReturnConsumedCapacity":"` + mode + `","Item":` + song(1, 0, `,"genre":{"S":"pop"},"year":{"N":"1974"}`) + `}`
	}
	transact := func(mode string) string {
		return `{"ReturnConsumedCapacity":"` + mode + `","TransactItems":[{"Put":{"TableName":"music","Item":` + song(1, 0, `,"genre":{"S":"pop"}`) + `}}]}`
	}
	for _, tt := range []struct{ op, body, want string }{
		{"PutItem", put("NONE"), `{}`},
		{"PutItem", put("TOTAL"), `{"ConsumedCapacity":{"TableName":"music","CapacityUnits":4.0}}`},
		{"PutItem", put("INDEXES"), `{"ConsumedCapacity":{"TableName":"music","CapacityUnits":4.0,"Table":{"CapacityUnits":1.0},` +
			`"LocalSecondaryIndexes":{"by-year":{"CapacityUnits":1.0}},` +
			`"GlobalSecondaryIndexes":{"genre-title":{"CapacityUnits":1.0},"genre-year":{"CapacityUnits":1.0}}}}`},
		{"TransactWriteItems", transact("TOTAL"), `{"ConsumedCapacity":[{"TableName":"music","CapacityUnits":3.0,"WriteCapacityUnits":3.0}]}`},
		{"TransactWriteItems", transact("INDEXES"), `{"ConsumedCapacity":[{"TableName":"music","CapacityUnits":3.0,"WriteCapacityUnits":3.0,` +
			`"Table":{"CapacityUnits":2.0,"WriteCapacityUnits":2.0},"GlobalSecondaryIndexes":{"genre-title":{"CapacityUnits":1.0,"WriteCapacityUnits":1.0}}}]}`},
	} {
		eng := newEngine(t, engine.Options{})
		if got := string(eng.Do(t.Context(), tt.op, []byte(tt.body)).Body); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.body, got, tt.want)
		}
	}
}

func TestItemCollectionMetrics(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for _, tt := range []struct{ op, body, want string }{
		{
			"PutItem", `{"TableName":"music","ReturnItemCollectionMetrics":"SIZE","Item":` + song(1, 0, "") + `}`,
			`{"ItemCollectionMetrics":{"ItemCollectionKey":{"artist":{"S":"abba"}},"SizeEstimateRangeGB":[0.0,1.0]}}`,
		},
		{"PutItem", `{"TableName":"plain","ReturnItemCollectionMetrics":"SIZE","Item":{"id":{"S":"x"}}}`, `{}`},
		{"DeleteItem", `{"TableName":"music","ReturnItemCollectionMetrics":"SIZE","Key":{"artist":{"S":"none"},"song":{"N":"1"}}}`, `{}`},
		{
			"TransactWriteItems", `{"ReturnItemCollectionMetrics":"SIZE","TransactItems":[
				{"ConditionCheck":{"TableName":"music","Key":{"artist":{"S":"none"},"song":{"N":"1"}},"ConditionExpression":"attribute_not_exists(song)"}},
				{"ConditionCheck":{"TableName":"music","Key":{"artist":{"S":"abba"},"song":{"N":"1"}},"ConditionExpression":"attribute_exists(song)"}},
				{"Put":{"TableName":"music","Item":` + song(3, 0, "") + `}}]}`,
			`{"ItemCollectionMetrics":{"music":[{"ItemCollectionKey":{"artist":{"S":"abba"}},"SizeEstimateRangeGB":[0.0,1.0]}]}}`,
		},
		{
			"BatchWriteItem", `{"ReturnItemCollectionMetrics":"SIZE","RequestItems":{"music":[{"PutRequest":{"Item":` + song(2, 0, "") + `}}]}}`,
			`{"UnprocessedItems":{},"ItemCollectionMetrics":{"music":[{"ItemCollectionKey":{"artist":{"S":"abba"}},"SizeEstimateRangeGB":[0.0,1.0]}]}}`,
		},
	} {
		if got := string(eng.Do(t.Context(), tt.op, []byte(tt.body)).Body); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
