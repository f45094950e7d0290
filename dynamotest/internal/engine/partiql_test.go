package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// ask returns the body of a request with a statement and its parameters.
func ask(statement, parameters string) string {
	if parameters == "" {
		return fmt.Sprintf(`{"Statement":%q}`, statement)
	}
	return fmt.Sprintf(`{"Statement":%q,"Parameters":%s}`, statement, parameters)
}

// execute performs a statement, and returns the reply or the error.
func execute(t testing.TB, eng *engine.Engine, statement, parameters string) string {
	t.Helper()
	return answer(t, eng, "ExecuteStatement", ask(statement, parameters))
}

func answer(t testing.TB, eng *engine.Engine, op, body string) string {
	t.Helper()
	res := eng.Do(t.Context(), op, []byte(body))
	if res.Err == nil {
		return string(res.Body)
	}
	text := res.Err.Code + ": " + res.Err.Message
	for _, r := range res.Err.Reasons {
		text += fmt.Sprintf(" (%s: %s)", r.Code, r.Message)
	}
	return text
}

// items returns the reply with these items.
func items(list ...string) string { return `{"Items":[` + strings.Join(list, ",") + `]}` }

// newJukebox returns an engine with some items in the table music.
func newJukebox(t testing.TB) *engine.Engine {
	t.Helper()
	eng := newEngine(t, engine.Options{})
	for _, it := range []string{
		`{"artist":{"S":"abba"},"song":{"N":"1"},"genre":{"S":"pop"},"year":{"N":"1974"},"title":{"S":"Waterloo"}}`,
		`{"artist":{"S":"abba"},"song":{"N":"2"},"genre":{"S":"pop"},"year":{"N":"1976"},"title":{"S":"Dancing Queen"},"tags":{"SS":["a","b"]}}`,
		`{"artist":{"S":"abba"},"song":{"N":"10"},"title":{"S":"SOS"},"nothing":{"NULL":true}}`,
		`{"artist":{"S":"blur"},"song":{"N":"1"},"genre":{"S":"rock"},"year":{"N":"1997"},"chart":{"M":{"uk":{"N":"2"},"weeks":{"L":[{"N":"5"},{"N":"7"}]}}}}`,
	} {
		do(t, eng, "PutItem", `{"TableName":"music","Item":`+it+`}`)
	}
	return eng
}

// A condition selects these items, at this cost.
func TestSelect(t *testing.T) {
	t.Parallel()
	eng := newJukebox(t)
	tests := []struct {
		condition string
		want      string // artist and song of what is selected
		price     string
	}{
		// Key conditions become queries.
		{`artist = 'abba'`, "abba/1 abba/2 abba/10", "music 0.5r"},
		{`'abba' = artist AND 2 <= song`, "abba/2 abba/10", "music 0.5r"},
		{`artist = 'abba' AND song = 2`, "abba/2", "music 0.5r"},
		{`artist = 'abba' AND song BETWEEN 2 AND 9`, "abba/2", "music 0.5r"},
		{`artist = 'abba' AND song > 1 AND song < 10`, "abba/2", "music 0.5r"},
		{`artist = 'nobody'`, "", "music 0.5r"},
		{`(artist = 'abba' AND song = 2) AND title = 'Dancing Queen'`, "abba/2", "music 0.5r"},
		{`artist IN ['blur', 'abba', 'blur'] AND song = 1`, "blur/1 abba/1", "music 1r"},
		{`artist IN ('abba')`, "abba/1 abba/2 abba/10", "music 0.5r"},
		{`artist = 'abba' OR artist = 'blur'`, "abba/1 abba/2 abba/10 blur/1", "music 1r"},
		{`artist = 'abba' AND song = 1 OR artist = 'blur'`, "abba/1 blur/1", "music 1r"},
		{`artist = 'abba' AND song = 1 OR artist = 'abba' AND song = 10`, "abba/1 abba/10", "music 0.5r"},
		{`(artist = 'abba' OR artist = 'blur') AND song = 1`, "abba/1 blur/1", "music 1r"},

		// Everything else filters.
		{`artist = 'abba' AND title <> 'SOS'`, "abba/1 abba/2", "music 0.5r"},
		{`artist = 'abba' AND title != 'SOS' AND NOT song = 1`, "abba/2", "music 0.5r"},
		{`artist = 'abba' AND begins_with(title, 'S')`, "abba/10", "music 0.5r"},
		{`artist = 'abba' AND NOT BEGINS_WITH("title", 'S')`, "abba/1 abba/2", "music 0.5r"},
		{`artist = 'abba' AND contains(tags, 'a')`, "abba/2", "music 0.5r"},
		{`artist = 'abba' AND size(title) > 3`, "abba/1 abba/2", "music 0.5r"},
		{`artist = 'abba' AND attribute_type(year, 'N')`, "abba/1 abba/2", "music 0.5r"},
		{`artist = 'abba' AND year IS MISSING`, "abba/10", "music 0.5r"},
		{`artist = 'abba' AND year IS NOT MISSING`, "abba/1 abba/2", "music 0.5r"},
		{`artist = 'abba' AND attribute_exists(year)`, "abba/1 abba/2", "music 0.5r"},
		{`artist = 'abba' AND attribute_exists(year) = true`, "abba/1 abba/2", "music 0.5r"},
		{`artist = 'abba' AND false <> contains(tags, 'a')`, "abba/2", "music 0.5r"},
		{`artist = 'abba' AND (year IS MISSING) IN [true]`, "abba/10", "music 0.5r"},
		{`artist = 'abba' AND title = 'SOS' = true`, "abba/10", "music 0.5r"},
		{`artist = 'abba' AND Attribute_Not_Exists("year")`, "abba/10", "music 0.5r"},
		{`artist = 'blur' AND attribute_exists(chart.weeks[1])`, "blur/1", "music 0.5r"},
		{`artist = 'abba' AND year IS NUMERIC`, "abba/1 abba/2", "music 0.5r"},
		{`artist = 'abba' AND year IS NOT STRING AND title IS STRING`, "abba/1 abba/2 abba/10", "music 0.5r"},
		{`artist = 'blur' AND chart IS STRUCT AND chart.weeks IS LIST`, "blur/1", "music 0.5r"},
		{`artist = 'abba' AND "nothing" IS NULL`, "abba/10", "music 0.5r"},
		{`artist = 'abba' AND "nothing" IS NOT NULL`, "abba/1 abba/2", "music 0.5r"},
		{`artist = 'abba' AND year IN [1974, 1]`, "abba/1", "music 0.5r"},
		{`artist = 'abba' AND year NOT IN [1974, 1]`, "abba/2 abba/10", "music 0.5r"},
		{`artist = 'abba' AND year NOT BETWEEN 1970 AND 1975`, "abba/2 abba/10", "music 0.5r"},
		{`artist = 'abba' AND tags = <<'b', 'a'>>`, "abba/2", "music 0.5r"},
		{`artist = 'blur' AND chart.uk = 2 AND chart.weeks[1] > chart['weeks'][0]`, "blur/1", "music 0.5r"},
		{`artist = 'blur' AND chart.weeks = [5, 7.0]`, "blur/1", "music 0.5r"},
		{`year = 1997`, "blur/1", "music 0.5r"},
		{`artist > 'b' AND song = +1`, "blur/1", "music 0.5r"},
		{`artist = 'abba' OR year = 1997`, "abba/1 abba/2 abba/10 blur/1", "music 0.5r"},

		{`artist = 'abba' ORDER BY song DESC`, "abba/10 abba/2 abba/1", "music 0.5r"},
		{`artist = 'abba' ORDER BY song ASC`, "abba/1 abba/2 abba/10", "music 0.5r"},
		{`artist = 'abba' ORDER BY artist`, "abba/10 abba/2 abba/1", "music 0.5r"},
		{`artist IN ['abba', 'blur'] ORDER BY artist DESC, song`, "blur/1 abba/1 abba/2 abba/10", "music 1r"},
	}
	for _, tt := range tests {
		t.Run(tt.condition, func(t *testing.T) {
			t.Parallel()
			res := eng.Do(t.Context(), "ExecuteStatement", []byte(ask(`SELECT artist, song FROM "music" WHERE `+tt.condition, "")))
			if res.Err != nil {
				t.Fatal(res.Err)
			}
			var got []string
			for _, it := range decode(t, res.Body)["Items"].([]any) {
				it := it.(map[string]any)
				got = append(got, fmt.Sprint(it["artist"].(map[string]any)["S"], "/", it["song"].(map[string]any)["N"]))
			}
			want := strings.Fields(tt.want)
			if !strings.Contains(tt.condition, "artist =") && !strings.Contains(tt.condition, "IN [") || strings.Contains(tt.condition, "year = 1997") {
				sortBoth(got, want) // the order of a scan has no meaning
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if got := price(res.Cost); got != tt.price {
				t.Errorf("costs %s, want %s", got, tt.price)
			}
		})
	}
}

// A SELECT shows these attributes of an item.
func TestSelectColumns(t *testing.T) {
	t.Parallel()
	eng := newJukebox(t)
	for columns, want := range map[string]string{
		`song`:                             `{"song":{"N":"1"}}`,
		`song, artist, gone`:               `{"artist":{"S":"blur"},"song":{"N":"1"}}`,
		`chart.uk`:                         `{"uk":{"N":"2"}}`,
		`"chart"."weeks"[1], chart.uk`:     `{"uk":{"N":"2"},"weeks[1]":{"N":"7"}}`,
		`chart.weeks[9], genre.x`:          `{}`,
		`*`:                                `{"artist":{"S":"blur"},"chart":{"M":{"uk":{"N":"2"},"weeks":{"L":[{"N":"5"},{"N":"7"}]}}},"genre":{"S":"rock"},"song":{"N":"1"},"year":{"N":"1997"}}`,
		`chart.weeks[-0] /* the first */ `: `{"weeks[0]":{"N":"5"}}`,
	} {
		if columns == `chart.weeks[9], genre.x` { // genre is the key of an index
			want = "ValidationException: Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: genre"
		} else {
			want = items(want)
		}
		if got := execute(t, eng, `SELECT `+columns+` FROM music WHERE artist = 'blur'`, ""); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", columns, got, want)
		}
	}
}

func TestSelectRefusesColumns(t *testing.T) {
	t.Parallel()
	eng := newJukebox(t)
	for columns, want := range map[string]string{
		`song, "song"`:       "Duplicate identifiers in select clause: song",
		`uk, chart.uk`:       "Duplicate identifiers in select clause: uk",
		`chart, chart.weeks`: "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [chart], path two: [chart, weeks]",
	} {
		if got := execute(t, eng, `SELECT `+columns+` FROM music WHERE artist = 'blur'`, ""); got != "ValidationException: "+want {
			t.Errorf("%s\ngot  %s\nwant %s", columns, got, want)
		}
	}
}

func TestSelectFromIndex(t *testing.T) {
	t.Parallel()
	eng := newJukebox(t)
	for _, tt := range []struct{ statement, want, price string }{
		{`SELECT title FROM "music"."genre-year" WHERE genre = 'pop' AND year > 1974`, items(`{"title":{"S":"Dancing Queen"}}`), "genre-year 0.5r"},
		{`SELECT title FROM "music"."genre-title" WHERE genre = 'pop' AND song = 2`, items(`{"title":{"S":"Dancing Queen"}}`), "genre-title 0.5r"},
		{`SELECT song FROM "music"."by-year" WHERE artist = 'abba' ORDER BY year DESC`, items(`{"song":{"N":"2"}}`, `{"song":{"N":"1"}}`), "by-year 0.5r"},
		{`SELECT * FROM "music"."genre-title" WHERE genre = 'rock'`, items(`{"artist":{"S":"blur"},"genre":{"S":"rock"},"song":{"N":"1"}}`), "genre-title 0.5r"},
		{
			`SELECT year FROM "music"."genre-title" WHERE genre = 'pop'`,
			"ValidationException: One or more parameter values were invalid: Global secondary index genre-title does not project [year]", "",
		},
		{
			`SELECT title FROM "music"."genre-title" WHERE genre = 'pop' AND (words = 'x' OR b = 'y')`,
			"ValidationException: One or more parameter values were invalid: Secondary index genre-title does not project one or more filter attributes: [words, b]", "",
		},
		{
			`SELECT song FROM "music"."genre-title" WHERE genre = 'pop' AND words = 'x' OR genre = 'rock'`,
			items(`{"song":{"N":"1"}}`), "genre-title 1r",
		},
		{`SELECT * FROM "music"."none" WHERE genre = 'pop'`, "ValidationException: The table does not have the specified index", ""},
	} {
		res := eng.Do(t.Context(), "ExecuteStatement", []byte(ask(tt.statement, "")))
		if got := answer(t, eng, "ExecuteStatement", ask(tt.statement, "")); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.statement, got, tt.want)
		}
		if got := price(res.Cost); got != tt.price {
			t.Errorf("%s costs %q, want %q", tt.statement, got, tt.price)
		}
	}
	consistent := `{"Statement":"SELECT song FROM \"music\".\"%s\" WHERE artist = 'blur'","ConsistentRead":true}`
	for index, want := range map[string]string{
		"genre-year": "ValidationException: Strongly consistent read is not supported on Global Secondary Indexes",
		"by-year":    items(`{"song":{"N":"1"}}`),
	} {
		if got := answer(t, eng, "ExecuteStatement", fmt.Sprintf(consistent, index)); got != want {
			t.Errorf("a consistent read of %s: %s", index, got)
		}
	}
}

// The pages of any SELECT have together what a single page has.
func TestSelectPages(t *testing.T) {
	t.Parallel()
	eng := newJukebox(t)
	for _, condition := range []string{
		`artist = 'abba'`, `artist = 'abba' AND title <> 'SOS'`, `artist IN ['blur', 'none', 'abba']`,
		`artist IN ['abba', 'blur'] ORDER BY artist DESC, song DESC`, `song > 0`,
	} {
		for limit := 1; limit <= 5; limit++ {
			statement := `SELECT artist, song FROM music WHERE ` + condition
			whole := decode(t, []byte(execute(t, eng, statement, "")))["Items"]
			all, token := []any{}, ""
			for page := 0; ; page++ {
				body := fmt.Sprintf(`{"Statement":%q,"Limit":%d%s}`, statement, limit, token)
				rep := decode(t, []byte(answer(t, eng, "ExecuteStatement", body)))
				got := rep["Items"].([]any)
				if all = append(all, got...); len(got) > limit {
					t.Errorf("%s: a page of %d items, the limit is %d", condition, len(got), limit)
				}
				if rep["NextToken"] == nil {
					break
				}
				if token = fmt.Sprintf(`,"NextToken":%q`, rep["NextToken"]); page > 10 {
					t.Fatalf("%s: no end in sight", condition)
				}
			}
			if fmt.Sprint(all) != fmt.Sprint(whole) {
				t.Errorf("%s by %d:\n%v, want\n%v", condition, limit, all, whole)
			}
		}
	}
}

// A page of several partitions ends at a total of one megabyte.
func TestSelectManyLargePartitions(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for _, artist := range []string{"a", "b", "c"} {
		for song := range 2 {
			body := fmt.Sprintf(`{"TableName":"music","Item":{"artist":{"S":%q},"song":{"N":"%d"},"words":{"S":%q}}}`, artist, song, strings.Repeat("x", 300_000))
			do(t, eng, "PutItem", body)
		}
	}
	statement := `SELECT song FROM music WHERE artist IN ['a', 'b', 'c']`
	first := decode(t, []byte(execute(t, eng, statement, "")))
	if n := len(first["Items"].([]any)); n != 4 || first["NextToken"] == nil {
		t.Fatalf("the first page has %d items and the token %v", n, first["NextToken"])
	}
	second := decode(t, []byte(answer(t, eng, "ExecuteStatement", fmt.Sprintf(`{"Statement":%q,"NextToken":%q}`, statement, first["NextToken"]))))
	if n := len(second["Items"].([]any)); n != 2 || second["NextToken"] != nil {
		t.Errorf("the second page has %d items and the token %v", n, second["NextToken"])
	}
}

// A SELECT with IN returns pages of ten items, and IN lists at most fifty values.
func TestSelectManyListedPartitions(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for artist := range 52 {
		for song := range 1 + artist%2*11 { // 1 or 12 songs of an artist
			do(t, eng, "PutItem", fmt.Sprintf(`{"TableName":"music","Item":{"artist":{"S":"%d"},"song":{"N":"%d"}}}`, artist, song))
		}
	}
	list := func(artists ...int) string {
		texts := make([]string, len(artists))
		for i, artist := range artists {
			texts[i] = fmt.Sprintf("'%d'", artist)
		}
		return `SELECT * FROM music WHERE artist IN [` + strings.Join(texts, ", ") + `]`
	}
	even := func(n int) (out []int) {
		for i := range n {
			out = append(out, i%26*2)
		}
		return out
	}
	for _, tt := range []struct {
		name, statement, more string
		pages                 []int
	}{
		{"ten", list(even(10)...), "", []int{10}},
		{"ten, and three that are not there", list(append(even(10), 90, 91, 92)...), "", []int{10, 0}},
		{"eleven", list(even(11)...), "", []int{10, 1}},
		{"large partitions", list(1, 2, 3), "", []int{10, 10, 5}},
		{"one partition", list(1), "", []int{12}},
		{"an equality", `SELECT * FROM music WHERE artist = '1'`, "", []int{12}},
		{"joined by OR", list(even(11)...) + ` OR artist = '40'`, "", []int{10, 2}},
		{"a smaller limit", list(even(7)...), `,"Limit":4`, []int{4, 3}},
		{"a limit of ten", list(even(10)...), `,"Limit":10`, []int{10, 0}},
		{"a larger limit", list(even(11)...), `,"Limit":20`, []int{10, 1}},
		{"fifty values", list(even(50)...), "", []int{10, 10, 6}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var pages []int
			token := ""
			for {
				out := do(t, eng, "ExecuteStatement", fmt.Sprintf(`{"Statement":%q%s%s}`, tt.statement, tt.more, token))
				pages = append(pages, len(out["Items"].([]any)))
				next, ok := out["NextToken"].(string)
				if !ok {
					break
				}
				token = fmt.Sprintf(`,"NextToken":%q`, next)
			}
			if diff := cmp.Diff(tt.pages, pages); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, statement := range []string{list(even(51)...), list(even(51)...) + ` OR artist = 'abba'`} {
		if got := execute(t, eng, statement, ""); !strings.Contains(got, "too many operands; number of operands: 51") {
			t.Error(got)
		}
	}
}

// No well-formed statement can read an index whose partition key or sort key
// has several attributes.
func TestSelectFromIndexOfSeveralAttributes(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "CreateTable", `{"TableName":"wide","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"S"}],
		"GlobalSecondaryIndexes":[
			{"IndexName":"hashes","Projection":{"ProjectionType":"ALL"},"KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"HASH"}]},
			{"IndexName":"ranges","Projection":{"ProjectionType":"ALL"},"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"a","KeyType":"RANGE"},{"AttributeName":"b","KeyType":"RANGE"}]},
			{"IndexName":"plain","Projection":{"ProjectionType":"ALL"},"KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}]}]}`)
	do(t, eng, "PutItem", `{"TableName":"wide","Item":{"id":{"S":"x"},"a":{"S":"y"},"b":{"S":"z"}}}`)
	const refused = "ValidationException: PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys."
	for statement, want := range map[string]string{
		`SELECT * FROM wide.hashes WHERE a = 'y' AND b = 'z'`: refused,
		`SELECT * FROM wide.ranges WHERE id = 'x' ORDER BY a`: refused,
		`SELECT COUNT(*) FROM wide.ranges`:                    refused,
		`SELECT * FROM wide.hashes WHERE f(a)`:                refused,
		`SELECT * FROM wide.hashes WHERE`:                     "ValidationException: Statement wasn't well formed, can't be processed: Unexpected term",
		`SELECT * FROM wide.hashes x`:                         "ValidationException: Aliasing is not supported",
		`DELETE FROM wide.hashes WHERE id = 'x'`:              "ValidationException: This operation is not supported on an index",
		`SELECT id FROM wide.plain WHERE a = 'y'`:             items(`{"id":{"S":"x"}}`),
		`SELECT a FROM wide WHERE id = 'x'`:                   items(`{"a":{"S":"y"}}`),
	} {
		if got := execute(t, eng, statement, ""); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", statement, got, want)
		}
	}
}

func TestNextTokenBelongsToItsStatement(t *testing.T) {
	t.Parallel()
	eng := newJukebox(t)
	statement := `SELECT * FROM music WHERE artist = ?`
	page := func(statement, artist, token string) string {
		return answer(t, eng, "ExecuteStatement", fmt.Sprintf(`{"Statement":%q,"Parameters":[{"S":%q}],"Limit":1%s}`, statement, artist, token))
	}
	next := decode(t, []byte(page(statement, "abba", "")))["NextToken"].(string)
	token := fmt.Sprintf(`,"NextToken":%q`, next)
	if got := page(statement, "abba", token); !strings.Contains(got, "Dancing Queen") {
		t.Errorf("the second page is %s", got)
	}
	const foreign = "ValidationException: NextToken does not match request"
	if got := page(statement, "blur", token); got != foreign {
		t.Errorf("with another parameter: %s", got)
	}
	if got := page(`SELECT song FROM music WHERE artist = ?`, "abba", token); got != foreign {
		t.Errorf("with another statement: %s", got)
	}
	for _, forged := range []string{"%%", "AAAA", next[:12] + "/////w==", next[:16] + "AAAA"} {
		if got := page(statement, "abba", fmt.Sprintf(`,"NextToken":%q`, forged)); !strings.HasPrefix(got, "ValidationException: ") {
			t.Errorf("token %s: %s", forged, got)
		}
	}
}

func sortBoth(a, b []string) {
	slices.Sort(a)
	slices.Sort(b)
}
