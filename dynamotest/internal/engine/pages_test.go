package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// seedMusic puts songs of two artists. Years repeat, so index keys tie; every
// fourth song has no genre.
func seedMusic(t testing.TB, db *dynamodb.Client, songs int) {
	t.Helper()
	for _, artist := range []string{"abba", "ebba"} {
		for i := range songs {
			song := item("artist", artist, "song", i-songs/2, "year", 1980+i/5, "title", fmt.Sprintf("%s %d", artist, i), "words", "la la")
			if i%4 != 3 {
				song["genre"] = av("pop")
			}
			put(t, db, "music", song)
		}
	}
}

// pages reads all pages of a query.
func pages(t testing.TB, db *dynamodb.Client, in dynamodb.QueryInput) (items []map[string]types.AttributeValue, count int) {
	t.Helper()
	for {
		out, err := db.Query(t.Context(), &in)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, out.Items...)
		if count++; len(out.LastEvaluatedKey) == 0 {
			return items, count
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func TestKeyConditions(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	for _, n := range []string{"-10", "-1.5", "0", "2", "10", "100"} {
		put(t, db, "music", item("artist", "abba", "song", &types.AttributeValueMemberN{Value: n}))
		put(t, db, "music", item("artist", "abb", "song", &types.AttributeValueMemberN{Value: n}))
	}
	tests := []struct {
		condition string
		values    []any
		want      string
	}{
		{"artist = :a", nil, "-10 -1.5 0 2 10 100"},
		{"artist = :a AND song = :x", []any{":x", 2}, "2"},
		{"artist = :a AND song = :x", []any{":x", 3}, ""},
		{"artist = :a AND song < :x", []any{":x", 2}, "-10 -1.5 0"},
		{"artist = :a AND song <= :x", []any{":x", 2}, "-10 -1.5 0 2"},
		{"artist = :a AND song > :x", []any{":x", 2}, "10 100"},
		{"song >= :x AND artist = :a", []any{":x", 2}, "2 10 100"},
		{":a = artist AND :x >= song", []any{":x", 2}, "-10 -1.5 0 2"},
		{"artist = :a AND song BETWEEN :x AND :y", []any{":x", -2, ":y", 10}, "-1.5 0 2 10"},
	}
	for _, tt := range tests {
		for _, forward := range []bool{true, false} {
			out, err := db.Query(t.Context(), &dynamodb.QueryInput{
				TableName: musicT, KeyConditionExpression: &tt.condition, ScanIndexForward: &forward,
				ExpressionAttributeValues: item(append(tt.values, ":a", "abba")...),
			})
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(tt.want)
			if !forward {
				slices.Reverse(want)
			}
			if got := column(out.Items, "song"); !slices.Equal(got, want) {
				t.Errorf("%s (forward %v): got %v, want %v", tt.condition, forward, got, want)
			}
		}
	}
}

func TestTextsSortByTheirBytes(t *testing.T) {
	t.Parallel()
	eng := engine.New(engine.Options{})
	do(t, eng, "CreateTable", `{"TableName":"texts","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},{"AttributeName":"s","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}]}`)
	db := connect(eng)
	want := []string{"\x00", "a", "a\x00", "a\x00b", "a\x01", "a#", "a#10", "a#9", "ab", "b", "\uFFFF", "\U0001F9F9"}
	for _, s := range want {
		put(t, db, "texts", item("p", "x", "s", s))
	}
	all, _ := pages(t, db, dynamodb.QueryInput{TableName: aws.String("texts"), KeyConditionExpression: aws.String("p = :p"), ExpressionAttributeValues: item(":p", "x")})
	if got := column(all, "s"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	some, _ := pages(t, db, dynamodb.QueryInput{TableName: aws.String("texts"), KeyConditionExpression: aws.String("p = :p AND begins_with(s, :s)"), ExpressionAttributeValues: item(":p", "x", ":s", "a")})
	if got := column(some, "s"); !slices.Equal(got, want[1:9]) {
		t.Errorf("begins_with: got %q, want %q", got, want[1:9])
	}
}

// Pages of any size and in both directions have together what a single page
// would have, even if index keys tie.
func TestPagesJoin(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	seedMusic(t, db, 30)
	queries := map[string]dynamodb.QueryInput{
		"table":       {KeyConditionExpression: aws.String("artist = :v"), ExpressionAttributeValues: item(":v", "abba")},
		"local index": {IndexName: aws.String("by-year"), KeyConditionExpression: aws.String("artist = :v"), ExpressionAttributeValues: item(":v", "abba")},
		"global index": {
			IndexName: aws.String("genre-year"), KeyConditionExpression: aws.String("genre = :v AND #y BETWEEN :from AND :to"),
			ExpressionAttributeNames: map[string]string{"#y": "year"}, ExpressionAttributeValues: item(":v", "pop", ":from", 1981, ":to", 1984),
		},
		"global index without a sort key": {IndexName: aws.String("genre-title"), KeyConditionExpression: aws.String("genre = :v"), ExpressionAttributeValues: item(":v", "pop")},
		"filtered": {
			IndexName: aws.String("genre-year"), KeyConditionExpression: aws.String("genre = :v"), FilterExpression: aws.String("artist = :a"),
			ExpressionAttributeValues: item(":v", "pop", ":a", "ebba"),
		},
	}
	for name, in := range queries {
		for _, forward := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " forward ", forward), func(t *testing.T) {
				t.Parallel()
				in := in
				in.TableName, in.ScanIndexForward = musicT, &forward
				whole, n := pages(t, db, in)
				if n != 1 || len(whole) < 10 {
					t.Fatalf("%d items on %d pages", len(whole), n)
				}
				for _, limit := range []int32{1, 2, 3, 7} {
					in.Limit = &limit
					parts, _ := pages(t, db, in)
					if !slices.Equal(ids(parts), ids(whole)) {
						t.Errorf("Limit %d: got %v, want %v", limit, ids(parts), ids(whole))
					}
				}
			})
		}
	}
}

func ids(items []map[string]types.AttributeValue) []string {
	out := column(items, "artist")
	for i, song := range column(items, "song") {
		out[i] += "/" + song
	}
	return out
}

func TestLimitCountsBeforeTheFilter(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	seedMusic(t, db, 10)
	out, err := db.Query(t.Context(), &dynamodb.QueryInput{
		TableName: musicT, KeyConditionExpression: aws.String("artist = :a"), FilterExpression: aws.String("attribute_not_exists(genre)"),
		ExpressionAttributeValues: item(":a", "abba"), Limit: aws.Int32(3),
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.Count != 0 || out.ScannedCount != 3 || names(out.LastEvaluatedKey) != "artist song" {
		t.Errorf("Count %d, ScannedCount %d, LastEvaluatedKey %v", out.Count, out.ScannedCount, out.LastEvaluatedKey)
	}
}

func TestAPageEndsAtAMegabyte(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	for i := range 30 {
		put(t, db, "music", item("artist", "abba", "song", i, "words", strings.Repeat("la", 25_000)))
	}
	in := dynamodb.QueryInput{TableName: musicT, KeyConditionExpression: aws.String("artist = :a"), ExpressionAttributeValues: item(":a", "abba"), ReturnConsumedCapacity: "TOTAL"}
	out, err := db.Query(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	// 50,016 bytes an item: the 21st crosses 1,048,576 and is still on the page.
	if out.Count != 21 || *out.ConsumedCapacity.CapacityUnits != 128.5 {
		t.Errorf("%d items for %v units", out.Count, *out.ConsumedCapacity.CapacityUnits)
	}
	all, n := pages(t, db, in)
	if len(all) != 30 || n != 2 {
		t.Errorf("%d items on %d pages", len(all), n)
	}
}

func TestWhatIndexesShow(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	put(t, db, "music", item("artist", "abba", "song", 1, "genre", "pop", "year", 1974, "title", "Waterloo", "words", "la"))
	put(t, db, "music", item("artist", "abba", "song", 2, "genre", "pop", "title", "Fernando")) // no year: in one index only
	tests := []struct {
		name, index, hash, projection string
		selects                       types.Select
		want                          string // the names on each item
	}{
		{"all", "genre-year", "genre", "", "", "artist genre song title words year"},
		{"included", "genre-title", "genre", "", "", "artist genre song title,artist genre song title"},
		{"keys", "by-year", "artist", "", "", "artist song year"},
		{"fetched from the table", "by-year", "artist", "", types.SelectAllAttributes, "artist genre song title words year"},
		{"named", "by-year", "artist", "title, song", "", "song title"},
		{"projected", "by-year", "artist", "", types.SelectAllProjectedAttributes, "artist song year"},
		{"counted", "genre-title", "genre", "", types.SelectCount, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := &dynamodb.QueryInput{
				TableName: musicT, IndexName: &tt.index, KeyConditionExpression: aws.String("#h = :v"), Select: tt.selects,
				ExpressionAttributeNames: map[string]string{"#h": tt.hash}, ExpressionAttributeValues: item(":v", map[string]string{"genre": "pop", "artist": "abba"}[tt.hash]),
			}
			if tt.projection != "" {
				in.ProjectionExpression = &tt.projection
			}
			out, err := db.Query(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, it := range out.Items {
				got = append(got, names(it))
			}
			if strings.Join(got, ",") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if tt.selects == types.SelectCount && out.Count != 2 {
				t.Errorf("Count is %d", out.Count)
			}
		})
	}
}

func TestIndexEntriesFollowTheItem(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	index := func(genre string) string {
		all, _ := pages(t, db, dynamodb.QueryInput{TableName: musicT, IndexName: aws.String("genre-title"), KeyConditionExpression: aws.String("genre = :g"), ExpressionAttributeValues: item(":g", genre)})
		return strings.Join(column(all, "title"), " ")
	}
	update := func(expression string, values ...any) {
		t.Helper()
		in := &dynamodb.UpdateItemInput{TableName: musicT, Key: item("artist", "abba", "song", 1), UpdateExpression: &expression}
		if len(values) > 0 {
			in.ExpressionAttributeValues = item(values...)
		}
		if _, err := db.UpdateItem(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	check := func(pop, rock string) {
		t.Helper()
		if index("pop") != pop || index("rock") != rock {
			t.Errorf("pop has %q, rock has %q; want %q and %q", index("pop"), index("rock"), pop, rock)
		}
	}
	update("SET title = :t", ":t", "Waterloo")
	check("", "")
	update("SET genre = :g", ":g", "pop")
	check("Waterloo", "")
	update("SET title = :t", ":t", "Fernando")
	check("Fernando", "")
	update("SET genre = :g", ":g", "rock")
	check("", "Fernando")
	update("REMOVE genre")
	check("", "")
}

func TestRefusedQueries(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	query := func(more string) string {
		return `{"TableName":"music","KeyConditionExpression":"artist = :a","ExpressionAttributeValues":{":a":{"S":"abba"}}` + more + `}`
	}
	genre := func(index, more string) string {
		return `{"TableName":"music","IndexName":"` + index + `","KeyConditionExpression":"genre = :g","ExpressionAttributeValues":{":g":{"S":"pop"}}` + more + `}`
	}
	key := func(condition, values string) string {
		return fmt.Sprintf(`{"TableName":"music","KeyConditionExpression":%q,"ExpressionAttributeValues":{%s}}`, condition, values)
	}
	do(t, eng, "CreateTable", `{"TableName":"words","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},`+
		`{"AttributeName":"word","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"word","KeyType":"RANGE"}]}`)
	testRefusals(t, eng, []refusal{
		{"no condition", "Query", `{"TableName":"music"}`, "Validation", "KeyConditionExpression parameter must be specified"},
		{"no partition key", "Query", key("song = :s", `":s":{"N":"1"}`), "Validation", "Query condition missed key schema element: artist"},
		{"another attribute", "Query", key("artist = :a AND title = :t", `":a":{"S":"x"},":t":{"S":"x"}`), "Validation", "Query condition missed key schema element: song"},
		{"range on the partition key", "Query", key("artist > :a", `":a":{"S":"x"}`), "Validation", "Query key condition not supported"},
		{"key of another type", "Query", key("artist = :a", `":a":{"N":"1"}`), "Validation", "Condition parameter type does not match schema type"},
		{"long partition key", "Query", key("artist = :a", `":a":{"S":"`+strings.Repeat("x", 2049)+`"}`), "Validation", "Size of hashkey has exceeded"},
		{
			"long sort key", "Query",
			`{"TableName":"words","KeyConditionExpression":"id = :a AND word BETWEEN :a AND :z","ExpressionAttributeValues":{":a":{"S":"a"},":z":{"S":"` +
				strings.Repeat("z", 1025) + `"}}}`, "Validation", "Aggregated size of all range keys has exceeded",
		},
		{"empty key", "Query", key("artist = :a", `":a":{"S":""}`), "Validation", "empty string value. Key: artist"},
		{"OR", "Query", key("artist = :a OR song = :s", `":a":{"S":"x"},":s":{"N":"1"}`), "Validation", "Invalid operator used in KeyConditionExpression: OR"},
		{"OR beside an unused value", "Query", key("artist = :a OR song = :s", `":a":{"S":"x"},":s":{"N":"1"},":u":{"N":"1"}`), "Validation", "unused in expressions: keys: {:u}"},
		{"an attribute twice beside a wrong projection", "Query", `{"TableName":"music","KeyConditionExpression":"artist = :a AND artist = :a","ProjectionExpression":"title, title","ExpressionAttributeValues":{":a":{"S":"x"}}}`, "Validation", "Invalid ProjectionExpression: Two document paths overlap"},
		{"bounds crossed", "Query", key("artist = :a AND song BETWEEN :x AND :y", `":a":{"S":"x"},":x":{"N":"2"},":y":{"N":"1"}`), "Validation", "requires upper bound to be greater than or equal to lower bound"},
		{"filter on the key", "Query", query(`,"FilterExpression":"attribute_exists(song)"`), "Validation", "Primary key attribute: song"},
		{"no such index", "Query", query(`,"IndexName":"none"`), "Validation", "The table does not have the specified index: none"},
		{"consistent read of a global index", "Query", genre("genre-year", `,"ConsistentRead":true`), "Validation", "Consistent reads are not supported on global secondary indexes"},
		{"all attributes of a global index that lacks some", "Query", genre("genre-title", `,"Select":"ALL_ATTRIBUTES"`), "Validation", "ALL_ATTRIBUTES is not supported for global secondary index genre-title"},
		{"unprojected attribute", "Query", genre("genre-title", `,"ProjectionExpression":"words"`), "Validation", "Global secondary index genre-title does not project [words]"},
		{"unprojected filter", "Query", genre("genre-title", `,"FilterExpression":"attribute_exists(words)"`), "Validation", "does not project one or more filter attributes: [words]"},
		{"projection and count", "Query", query(`,"ProjectionExpression":"title","Select":"COUNT"`), "Validation", "Cannot specify the ProjectionExpression"},
		{"specific attributes without names", "Query", query(`,"Select":"SPECIFIC_ATTRIBUTES"`), "Validation", "Must specify the AttributesToGet or ProjectionExpression"},
		{"projected attributes of a table", "Query", query(`,"Select":"ALL_PROJECTED_ATTRIBUTES"`), "Validation", "ALL_PROJECTED_ATTRIBUTES"},
		{"limit 0", "Query", query(`,"Limit":0`), "Validation", "Value at 'Limit' failed"},
		{"start key of another partition", "Query", query(`,"ExclusiveStartKey":{"artist":{"S":"ebba"},"song":{"N":"1"}}`), "Validation", "outside query boundaries"},
		{"start key out of range", "Query", `{"TableName":"music","KeyConditionExpression":"artist = :a AND song > :s","ExpressionAttributeValues":{":a":{"S":"abba"},":s":{"N":"5"}},
			"ExclusiveStartKey":{"artist":{"S":"abba"},"song":{"N":"1"}}}`, "Validation", "outside query boundaries"},
		{"part of a start key", "Query", query(`,"ExclusiveStartKey":{"artist":{"S":"abba"}}`), "Validation", "The provided starting key is invalid"},
		{"empty start key", "Query", query(`,"ExclusiveStartKey":{}`), "Validation", "The provided starting key is invalid"},
		{"start key with an empty value", "Scan", `{"TableName":"music","ExclusiveStartKey":{"artist":{"S":""},"song":{"N":"1"}}}`, "Validation", "cannot contain an empty string value. Key: artist"},
		{"empty start key of a scan", "Scan", `{"TableName":"music","ExclusiveStartKey":{}}`, "Validation", "The provided starting key is invalid"},
		{"start key of an index without its key", "Query", genre("genre-year", `,"ExclusiveStartKey":{"artist":{"S":"abba"},"song":{"N":"1"}}`), "Validation", "The provided starting key is invalid"},
		{
			"start key of one item", "Query", `{"TableName":"plain","KeyConditionExpression":"id = :i","ExpressionAttributeValues":{":i":{"S":"x"}},"ExclusiveStartKey":{"id":{"S":"x"}}}`, "Validation",
			"The provided exclusive start key is invalid: ExclusiveStartKey: {id=AttributeValue: {S:x}}",
		},
		{"projection and projected attributes of a table", "Scan", `{"TableName":"music","Select":"ALL_PROJECTED_ATTRIBUTES","ProjectionExpression":"title"}`, "Validation", "Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES"},
		{"projected attributes of a table scanned", "Scan", `{"TableName":"music","Select":"ALL_PROJECTED_ATTRIBUTES"}`, "Validation", "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"},
		{"segment alone", "Scan", `{"TableName":"music","Segment":0}`, "Validation", "The TotalSegments parameter is required"},
		{"segment too high", "Scan", `{"TableName":"music","Segment":2,"TotalSegments":2}`, "Validation", "Segment: 2 is not less than TotalSegments: 2"},
		{"start key of another segment", "Scan", foreignSegment(t, eng), "Validation", "Please use ExclusiveStartKey with correct Segment"},
		{"unknown select", "Scan", `{"TableName":"music","Select":"ALL"}`, "Validation", "Member must satisfy enum value set"},
	})
}

// foreignSegment returns a scan of one of two segments from a key of the other.
func foreignSegment(t testing.TB, eng *engine.Engine) string {
	t.Helper()
	scan := `{"TableName":"music","Segment":%d,"TotalSegments":2,"ExclusiveStartKey":{"artist":{"S":"abba"},"song":{"N":"1"}}}`
	for segment := range 2 {
		if eng.Do(t.Context(), "Scan", fmt.Appendf(nil, scan, segment)).Err == nil {
			return fmt.Sprintf(scan, 1-segment)
		}
	}
	t.Fatal("the key is in neither segment")
	return ""
}

func TestScanSegmentsAreAPartition(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	const items = 500
	for i := range items {
		put(t, db, "plain", item("id", strconv.Itoa(i)))
	}
	for _, segments := range []int32{1, 2, 3, 7, 5000} {
		seen := map[string]int{}
		largest := 0
		for segment := range segments {
			got := scanAll(t.Context(), t, db, dynamodb.ScanInput{TableName: plain, Segment: &segment, TotalSegments: &segments, Limit: aws.Int32(40)})
			largest = max(largest, len(got))
			for _, id := range column(got, "id") {
				seen[id]++
			}
		}
		for id, times := range seen {
			if times != 1 {
				t.Errorf("%d segments: %s came %d times", segments, id, times)
			}
		}
		if len(seen) != items {
			t.Errorf("%d segments: %d items", segments, len(seen))
		}
		if fair := items / int(segments); segments > 1 && segments < 10 && largest > 2*fair {
			t.Errorf("%d segments: one has %d of %d items", segments, largest, items)
		}
	}
}

func scanAll(ctx context.Context, t testing.TB, db *dynamodb.Client, in dynamodb.ScanInput) (items []map[string]types.AttributeValue) {
	t.Helper()
	for {
		out, err := db.Scan(ctx, &in)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, out.Items...)
		if len(out.LastEvaluatedKey) == 0 {
			return items
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func TestScanOfAnIndexWithAFilter(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	seedMusic(t, db, 20)
	for _, limit := range []int32{1, 7, 1000} {
		got := scanAll(t.Context(), t, db, dynamodb.ScanInput{
			TableName: musicT, IndexName: aws.String("genre-year"), Limit: &limit,
			FilterExpression: aws.String("#y = :y"), ExpressionAttributeNames: map[string]string{"#y": "year"}, ExpressionAttributeValues: item(":y", 1981),
		})
		slices.SortFunc(got, func(a, b map[string]types.AttributeValue) int {
			return strings.Compare(text(a["title"]), text(b["title"]))
		})
		if want := []string{"abba 5", "abba 6", "abba 8", "abba 9", "ebba 5", "ebba 6", "ebba 8", "ebba 9"}; !slices.Equal(column(got, "title"), want) {
			t.Errorf("Limit %d: got %v", limit, column(got, "title"))
		}
	}
}

func TestPagingGoesOnAfterADeletedItem(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	seedMusic(t, db, 6)
	in := dynamodb.QueryInput{TableName: musicT, KeyConditionExpression: aws.String("artist = :a"), ExpressionAttributeValues: item(":a", "abba"), Limit: aws.Int32(2)}
	first, err := db.Query(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: musicT, Key: first.LastEvaluatedKey}); err != nil {
		t.Fatal(err)
	}
	in.ExclusiveStartKey = first.LastEvaluatedKey
	rest, _ := pages(t, db, in)
	if got := column(rest, "song"); !slices.Equal(got, []string{"-1", "0", "1", "2"}) {
		t.Errorf("got %v", got)
	}
}
