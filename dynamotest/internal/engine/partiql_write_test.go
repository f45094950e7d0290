package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// The effect of a statement on an item, its reply and its cost.
func TestStatementsThatWrite(t *testing.T) {
	t.Parallel()
	const (
		before  = `{"id":{"S":"x"},"l":{"L":[{"S":"a"},{"S":"b"},{"S":"c"}]},"m":{"M":{"k":{"S":"v"},"z":{"N":"1"}}},"n":{"N":"5"},"s":{"SS":["a","b"]}}`
		exists  = "DuplicateItemException: Duplicate primary key exists in table"
		failed  = "ConditionalCheckFailedException: The conditional request failed"
		nothing = `{"Items":[]}`
		where   = ` WHERE id = 'x'`
		invalid = "ValidationException: "
	)
	without := func(part string) string { return strings.Replace(before, part, "", 1) }
	with := func(from, to string) string { return strings.Replace(before, from, to, 1) }
	tests := []struct {
		statement, parameters string
		answer, after         string // after is the item x
	}{
		{`INSERT INTO plain VALUE {'id': 'y'}`, "", nothing, before},
		{`INSERT INTO "plain" VALUE {'id': 'x', 'n': 1}`, "", exists, before},
		{`INSERT INTO plain VALUE {'id': ?, 'n': ?}`, `[{"S":"x"},{"N":"1"}]`, exists, before},
		{`INSERT INTO plain VALUE {'n': 1}`, "", invalid + "One or more parameter values were invalid: Missing the key id in the item", before},
		{`INSERT INTO plain VALUE {'id': 1}`, "", invalid + "One or more parameter values were invalid: Type mismatch for key id expected: S actual: N", before},
		{`INSERT INTO plain VALUE ?`, `[{"M":{"id":{"S":"y"}}}]`, invalid + "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.", before},

		{`UPDATE plain SET n = 6` + where, "", nothing, with(`"n":{"N":"5"}`, `"n":{"N":"6"}`)},
		{`UPDATE plain SET n = ? WHERE id = ? AND n = ?`, `[{"N":"6"},{"S":"x"},{"N":"5"}]`, nothing, with(`"n":{"N":"5"}`, `"n":{"N":"6"}`)},
		{`FROM plain WHERE id = 'x' SET n = 6`, "", nothing, with(`"n":{"N":"5"}`, `"n":{"N":"6"}`)},
		{`UPDATE plain SET n=n-1` + where, "", nothing, with(`"n":{"N":"5"}`, `"n":{"N":"4"}`)},
		{
			`UPDATE plain SET n = 1 + n SET m.k = 'w'` + where, "", nothing,
			strings.Replace(with(`"n":{"N":"5"}`, `"n":{"N":"6"}`), `{"S":"v"}`, `{"S":"w"}`, 1),
		},
		{`UPDATE plain SET l = list_append(l, [1])` + where, "", nothing, with(`{"S":"c"}]`, `{"S":"c"},{"N":"1"}]`)},
		{`UPDATE plain SET s = SET_ADD(s, <<'c'>>)` + where, "", nothing, with(`["a","b"]`, `["a","b","c"]`)},
		{`UPDATE plain SET s = set_delete(s, <<'a'>>)` + where, "", nothing, with(`["a","b"]`, `["b"]`)},
		{`UPDATE plain SET s = set_delete(s, <<'b', 'a'>>)` + where, "", nothing, without(`,"s":{"SS":["a","b"]}`)},
		{`UPDATE plain SET s = set_add(s, ?)` + where, `[{"SS":["z"]}]`, nothing, with(`["a","b"]`, `["a","b","z"]`)},
		{
			`UPDATE plain SET s = set_add(s, ?)` + where, `[{"S":"z"}]`,
			invalid + "The second argument to SET_ADD must be a value with type SET at 1:30:1", before,
		},
		{`UPDATE plain SET s = set_add(s, <<1>>)` + where, "", invalid + "An operand in the update expression has an incorrect data type", before},
		{
			`UPDATE plain REMOVE n REMOVE m.k REMOVE l[0]` + where, "", nothing,
			`{"id":{"S":"x"},"l":{"L":[{"S":"b"},{"S":"c"}]},"m":{"M":{"z":{"N":"1"}}},"s":{"SS":["a","b"]}}`,
		},
		{`UPDATE plain SET gone[0] = 1` + where, "", invalid + "The document path provided in the update expression is invalid for update", before},
		{`UPDATE plain SET n = gone + 1` + where, "", invalid + "The provided expression refers to an attribute that does not exist in the item", before},
		{`UPDATE plain SET id = 'z'` + where, "", invalid + "One or more parameter values were invalid: Cannot update attribute id. This attribute is part of the key", before},
		{
			`UPDATE plain SET m = 1 SET m.k = 2` + where, "",
			invalid + "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m], path two: [m, k]", before,
		},
		{`UPDATE plain SET n = 6 WHERE id = 'nobody'`, "", failed, before},
		{`UPDATE plain SET n = 6 WHERE id = 'x' AND n > 5`, "", failed, before},
		{`UPDATE plain SET n = 6 WHERE n = 5`, "", invalid + "Where clause does not contain a mandatory equality on all key attributes", before},
		{`UPDATE plain SET n = 6`, "", invalid + "Where clause does not contain a mandatory equality on all key attributes", before},
		{
			`UPDATE plain SET n = 6 WHERE id = 'x' AND id = 'y'`, "",
			invalid + "Multiple conditions on same key id. Only single item Update/Insert/Delete are supported", before,
		},
		{`UPDATE plain SET n = 6 WHERE id = 1`, "", invalid + "The provided key element does not match the schema", before},

		{`DELETE FROM plain` + where, "", nothing, ""},
		{`DELETE FROM plain WHERE id = 'x' AND n = 5 AND NOT begins_with(m.k, 'w')`, "", nothing, ""},
		{`DELETE FROM plain WHERE id = 'x' AND n = 6`, "", failed, before},
		{`DELETE FROM plain WHERE id = 'nobody' AND n = 6`, "", nothing, before},
		{`DELETE FROM plain WHERE n = 5`, "", invalid + "Where clause does not contain a mandatory equality on all key attributes", before},

		{`DELETE FROM plain WHERE id = 'x' RETURNING ALL OLD *`, "", items(before), ""},
		{`DELETE FROM plain WHERE id = 'nobody' RETURNING ALL OLD *`, "", nothing, before},
		{`UPDATE plain SET n = 6` + where + ` RETURNING ALL OLD *`, "", items(before), with(`"n":{"N":"5"}`, `"n":{"N":"6"}`)},
		{`UPDATE plain SET n = 6` + where + ` returning all new *`, "", items(with(`"n":{"N":"5"}`, `"n":{"N":"6"}`)), with(`"n":{"N":"5"}`, `"n":{"N":"6"}`)},
		{`UPDATE plain SET m.k = 'w'` + where + ` RETURNING MODIFIED OLD *`, "", items(`{"m":{"M":{"k":{"S":"v"}}}}`), with(`{"S":"v"}`, `{"S":"w"}`)},
		{`UPDATE plain SET m.k = 'w'` + where + ` RETURNING MODIFIED NEW *`, "", items(`{"m":{"M":{"k":{"S":"w"}}}}`), with(`{"S":"v"}`, `{"S":"w"}`)},
		{
			`UPDATE plain SET l[2] = 'y', l[0] = 'x'` + where + ` RETURNING MODIFIED NEW *`, "", items(`{"l":{"L":[{"S":"x"},{"S":"y"}]}}`),
			with(`{"S":"a"},{"S":"b"},{"S":"c"}`, `{"S":"x"},{"S":"b"},{"S":"y"}`),
		},
		{`UPDATE plain SET l[9] = 'y'` + where + ` RETURNING MODIFIED NEW *`, "", nothing, with(`{"S":"c"}]`, `{"S":"c"},{"S":"y"}]`)},
		{`UPDATE plain REMOVE n` + where + ` RETURNING MODIFIED NEW *`, "", nothing, without(`"n":{"N":"5"},`)},
		{`UPDATE plain SET "new" = 1` + where + ` RETURNING MODIFIED OLD *`, "", nothing, with(`,"s":`, `,"new":{"N":"1"},"s":`)},

		{`EXISTS(SELECT * FROM plain WHERE id = 'x' AND n = 5)`, "", invalid + "EXISTS can only be used in ExecuteTransaction write requests.", before},
		{`DELETE FROM none` + where, "", "ResourceNotFoundException: Requested resource not found", before},
		{`INSERT INTO none VALUE {'id': 'x'}`, "", "ResourceNotFoundException: Requested resource not found", before},
		{`UPDATE plain SET n = ? WHERE id = ?`, `[{"N":"6"}]`, invalid + "Number of parameters in request and statement don't match.", before},
		{
			`UPDATE plain SET WHERE`, `[{"SS":["a","a"]}]`,
			invalid + "One or more parameter values were invalid: Input collection [a, a] contains duplicates.", before,
		},
	}
	for _, tt := range tests {
		t.Run(tt.statement, func(t *testing.T) {
			t.Parallel()
			eng := newEngine(t, engine.Options{})
			do(t, eng, "PutItem", `{"TableName":"plain","Item":`+before+`}`)
			if got := execute(t, eng, tt.statement, tt.parameters); got != tt.answer {
				t.Errorf("got  %s\nwant %s", got, tt.answer)
			}
			got := answer(t, eng, "GetItem", `{"TableName":"plain","Key":{"id":{"S":"x"}}}`)
			want := `{"Item":` + tt.after + `}`
			if tt.after == "" {
				want = `{}`
			}
			if got != want {
				t.Errorf("leaves %s\nwant   %s", got, want)
			}
		})
	}
}

// Literals insert these values.
func TestInsertLiterals(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for literal, want := range map[string]string{
		`'it''s'`:                          `{"S":"it's"}`,
		`1E3`:                              `{"N":"1000"}`,
		`-1.5e-3`:                          `{"N":"-0.0015"}`,
		`- - +2.50`:                        `{"N":"2.5"}`,
		`-0`:                               `{"N":"0"}`,
		`true`:                             `{"BOOL":true}`,
		`FALSE`:                            `{"BOOL":false}`,
		`null`:                             `{"NULL":true}`,
		`[]`:                               `{"L":[]}`,
		`[1, 'x', [<<'b', 'a'>>]]`:         `{"L":[{"N":"1"},{"S":"x"},{"L":[{"SS":["a","b"]}]}]}`,
		`{}`:                               `{"M":{}}`,
		`{'b': {'c': null}, 'a': -1} -- x`: `{"M":{"a":{"N":"-1"},"b":{"M":{"c":{"NULL":true}}}}}`,
		`<<1, 34, 4.50>>`:                  `{"NS":["1","4.5","34"]}`,
		`'--' /* a comment */`:             `{"S":"--"}`,
	} {
		execute(t, eng, `DELETE FROM plain WHERE id = 'x'`, "")
		execute(t, eng, "INSERT INTO plain VALUE {'id': 'x', 'v': "+literal+"\n}", "")
		if got, want := execute(t, eng, `SELECT v FROM plain WHERE id = 'x'`, ""), items(`{"v":`+want+`}`); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", literal, got, want)
		}
	}
}

// A failed condition returns the item if the request asks for it.
func TestStatementReturnsTheItemOnFailure(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"},"n":{"N":"1"}}}`)
	res := eng.Do(t.Context(), "ExecuteStatement", []byte(`{"Statement":"UPDATE plain SET n = 2 WHERE id = 'x' AND n = 7","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`))
	if res.Err == nil || string(res.Err.Item.AppendJSON(nil)) != `{"id":{"S":"x"},"n":{"N":"1"}}` {
		t.Errorf("got %v with %v", res.Err, res.Err.Item)
	}
}

func TestPricesOfStatements(t *testing.T) {
	t.Parallel()
	const key = ` WHERE artist = 'abba' AND song = 1`
	statements := func(list ...string) string {
		for i, s := range list {
			list[i] = ask(s, "")
		}
		return `[` + strings.Join(list, ",") + `]`
	}
	insert := `INSERT INTO music VALUE {'artist': 'abba', 'song': 2, 'genre': 'pop'}`
	tests := []struct{ op, body, want string }{
		{"ExecuteStatement", ask(insert, ""), "music 1w, genre-title 1w"},
		{"ExecuteStatement", ask(`INSERT INTO music VALUE {'artist': 'abba', 'song': 1}`, ""), "music 3w"},
		{"ExecuteStatement", ask(`UPDATE music SET year = 1`+key, ""), "music 3w, by-year 1w"},
		{"ExecuteStatement", ask(`UPDATE music SET year = 1`+key+` AND year = 2`, ""), "music 3w"},
		{"ExecuteStatement", ask(`DELETE FROM music`+key, ""), "music 3w"},
		{"ExecuteStatement", ask(`DELETE FROM music WHERE artist = 'x' AND song = 1`, ""), "music 1w"},
		{"ExecuteStatement", ask(`SELECT * FROM music`+key, ""), "music 0.5r"},
		{"ExecuteStatement", `{"ConsistentRead":true,"Statement":"SELECT * FROM music"}`, "music 1r"},
		{"ExecuteStatement", ask(`SELECT * FROM`, ""), ""},
		{"BatchExecuteStatement", `{"Statements":` + statements(insert, `DELETE FROM music`+key, `DELETE FROM music WHERE n = 1`) + `}`, "music 4w, genre-title 1w"},
		{"BatchExecuteStatement", `{"Statements":` + statements(`SELECT * FROM music`+key, `SELECT * FROM plain WHERE id = 'x'`) + `}`, "music 0.5r, plain 0.5r"},
		{"ExecuteTransaction", `{"TransactStatements":` + statements(insert, `DELETE FROM music`+key) + `}`, "music 8w, genre-title 1w"},
		{"ExecuteTransaction", `{"TransactStatements":` + statements(`SELECT * FROM music`+key) + `}`, "music 2r"},
	}
	for _, tt := range tests {
		t.Run(tt.body, func(t *testing.T) {
			t.Parallel()
			eng := newEngine(t, engine.Options{})
			do(t, eng, "PutItem", `{"TableName":"music","Item":`+song(1, 2, `,"more":{"S":"`+strings.Repeat("x", 100)+`"}`)+`}`)
			if got := price(eng.Do(t.Context(), tt.op, []byte(tt.body)).Cost); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestStatementsReportCapacity(t *testing.T) {
	t.Parallel()
	const unit = `{"TableName":"plain","CapacityUnits":%s}`
	for _, tt := range []struct{ op, body, want string }{
		{"ExecuteStatement", `{"Statement":"INSERT INTO plain VALUE {'id': 'x'}","ReturnConsumedCapacity":"TOTAL"}`, `{"Items":[],"ConsumedCapacity":` + fmt.Sprintf(unit, "1.0") + `}`},
		{"ExecuteStatement", `{"Statement":"SELECT * FROM plain WHERE id = 'x'","ReturnConsumedCapacity":"TOTAL"}`, `{"Items":[],"ConsumedCapacity":` + fmt.Sprintf(unit, "0.5") + `}`},
		{
			"BatchExecuteStatement", `{"Statements":[{"Statement":"SELECT * FROM plain WHERE id = 'x'"},{"Statement":"SELECT * FROM plain WHERE id = 'y'","ConsistentRead":true}],"ReturnConsumedCapacity":"TOTAL"}`,
			`{"Responses":[{"TableName":"plain"},{"TableName":"plain"}],"ConsumedCapacity":[` + fmt.Sprintf(unit, "0.5") + `,` + fmt.Sprintf(unit, "1.0") + `]}`,
		},
		{
			"ExecuteTransaction", `{"TransactStatements":[{"Statement":"SELECT * FROM plain WHERE id = 'x'"}],"ReturnConsumedCapacity":"TOTAL"}`,
			`{"Responses":[{}],"ConsumedCapacity":[{"TableName":"plain","CapacityUnits":2.0,"ReadCapacityUnits":2.0}]}`,
		},
	} {
		eng := newEngine(t, engine.Options{})
		if got := answer(t, eng, tt.op, tt.body); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.body, got, tt.want)
		}
	}
}

func TestBatchOfStatements(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for _, tt := range []struct{ statements, want string }{
		{
			`[{"Statement":"INSERT INTO plain VALUE {'id': 'x', 'n': 1}"},{"Statement":"INSERT INTO plain VALUE {'id': 'y', 'n': 1}"}]`,
			`{"Responses":[{"TableName":"plain"},{"TableName":"plain"}]}`,
		},
		{
			`[{"Statement":"INSERT INTO plain VALUE {'id': 'x'}"},
			{"Statement":"SLECT * FROM plain"},{"Statement":"UPDATE plain SET n = 2 WHERE id = 'y' RETURNING MODIFIED NEW *"},
			{"Statement":"UPDATE plain SET n = 3 WHERE id = 'z' AND n = 1","ReturnValuesOnConditionCheckFailure":"ALL_OLD"},
			{"Statement":"DELETE FROM plain WHERE n = 1"},{"Statement":"DELETE FROM none WHERE id = 'x'"},
			{"Statement":"EXISTS(SELECT * FROM plain WHERE id = 'v' AND n = 1)"}]`,
			`{"Responses":[{"Error":{"Code":"DuplicateItem","Message":"Duplicate primary key exists in table"},"TableName":"plain"},` +
				`{"Error":{"Code":"ValidationError","Message":"Statement wasn't well formed, can't be processed: Expected data manipulation"}},` +
				`{"TableName":"plain","Item":{"n":{"N":"2"}}},` +
				`{"Error":{"Code":"ConditionalCheckFailed","Message":"The conditional request failed"},"TableName":"plain"},` +
				`{"Error":{"Code":"ValidationError","Message":"Where clause does not contain a mandatory equality on all key attributes"}},` +
				`{"Error":{"Code":"ResourceNotFound","Message":"Requested resource not found"}},` +
				`{"Error":{"Code":"ValidationError","Message":"EXISTS can only be used in ExecuteTransaction write requests."}}]}`,
		},
		{
			`[{"Statement":"SELECT id FROM plain WHERE id = 'x'"},{"Statement":"SELECT * FROM plain WHERE id = 'nobody'"},
			{"Statement":"SELECT * FROM plain WHERE id = 'y' AND n = 9"},{"Statement":"SELECT * FROM plain WHERE n = 9"},
			{"Statement":"SELECT * FROM music.\"by-year\" WHERE artist = 'x' AND song = 1"},{"Statement":"SELECT * FROM none WHERE id = 'x'"}]`,
			`{"Responses":[{"TableName":"plain","Item":{"id":{"S":"x"}}},{"TableName":"plain"},` +
				`{"Error":{"Code":"ValidationError","Message":"Select statements within BatchExecuteStatement must specify the primary key in the where clause."}},` +
				`{"Error":{"Code":"ValidationError","Message":"Select statements within BatchExecuteStatement must specify the primary key in the where clause."}},` +
				`{"Error":{"Code":"ValidationError","Message":"Select statements within BatchExecuteStatement must specify the primary key in the where clause."}},` +
				`{"Error":{"Code":"ResourceNotFound","Message":"Requested resource not found"}}]}`,
		},
		{ // an invalid value: only its own statement is not performed
			`[{"Statement":"INSERT INTO plain VALUE {'id': 'valued'}"},{"Statement":"UPDATE plain SET n = ? WHERE id = 'x'","Parameters":[{"SS":[]}]},
			{"Statement":"UPDATE plain SET n = ? WHERE id = 'v'","Parameters":[{"N":"1e99999999999"}]}]`,
			`{"Responses":[{"TableName":"plain"},` +
				`{"Error":{"Code":"ValidationError","Message":"One or more parameter values were invalid: An string set  may not be empty"}},` +
				`{"Error":{"Code":"ValidationError","Message":"The parameter cannot be converted to a numeric value: 1e99999999999"}}]}`,
		},
		{ // a condition beside the key, of any kind
			`[{"Statement":"SELECT * FROM plain WHERE id = 'x' AND attribute_exists(id)"},{"Statement":"SELECT id FROM plain WHERE id = 'valued' AND id = 'valued'"}]`,
			`{"Responses":[{"Error":{"Code":"ValidationError","Message":"Select statements within BatchExecuteStatement must specify the primary key in the where clause."}},` +
				`{"TableName":"plain","Item":{"id":{"S":"valued"}}}]}`,
		},
		{ // the same item twice: no statement is performed
			`[{"Statement":"INSERT INTO plain VALUE {'id': 'new'}"},{"Statement":"UPDATE plain SET n = 2 WHERE id = 'x'"},{"Statement":"DELETE FROM plain WHERE id = 'x'"}]`,
			"ValidationException: Provided list of item keys contains duplicates",
		},
		{
			`[{"Statement":"SELECT * FROM plain WHERE id = 'new'"}]`, `{"Responses":[{"TableName":"plain"}]}`,
		},
		{
			`[{"Statement":"SELECT id FROM plain WHERE id = 'x'"},{"Statement":"DELETE FROM plain WHERE id = 'x'"}]`,
			"ValidationException: BatchExecuteStatement API does not support both read and write operations in the same request.",
		},
	} {
		if got := answer(t, eng, "BatchExecuteStatement", `{"Statements":`+tt.statements+`}`); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.statements, got, tt.want)
		}
	}
}

// A SELECT among other statements shows a nested attribute inside its maps and
// lists.
func TestStatementsTogetherShowAttributesInPlace(t *testing.T) {
	t.Parallel()
	eng := newJukebox(t)
	for columns, want := range map[string]string{
		`song, chart.uk`:                `{"chart":{"M":{"uk":{"N":"2"}}},"song":{"N":"1"}}`,
		`chart.weeks[1], chart.uk`:      `{"chart":{"M":{"uk":{"N":"2"},"weeks":{"L":[{"N":"7"}]}}}}`,
		`chart.weeks[0], chart.weeks.x`: "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [chart, weeks, [0]], path two: [chart, weeks, x]",
	} {
		statement := `[{"Statement":"SELECT ` + columns + ` FROM music WHERE artist = 'blur' AND song = 1"}]`
		batch := `{"Responses":[{"TableName":"music","Item":` + want + `}]}`
		together := `{"Responses":[{"Item":` + want + `}]}`
		if want[0] != '{' {
			batch = `{"Responses":[{"Error":{"Code":"ValidationError","Message":"` + want + `"}}]}`
			together = "ValidationException: Validation failed in TransactStatements[0]: " + want
		}
		if got := answer(t, eng, "BatchExecuteStatement", `{"Statements":`+statement+`}`); got != batch {
			t.Errorf("%s\ngot  %s\nwant %s", columns, got, batch)
		}
		if got := answer(t, eng, "ExecuteTransaction", `{"TransactStatements":`+statement+`}`); got != together {
			t.Errorf("%s\ngot  %s\nwant %s", columns, got, together)
		}
	}
}

func TestTransactionOfStatements(t *testing.T) {
	t.Parallel()
	const (
		cancelled = "TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific reasons "
		invalid   = "ValidationException: Validation failed in TransactStatements[0]: "
		one       = `SELECT * FROM plain WHERE id = 'x'`
	)
	tests := []struct {
		statements []string
		want       string
	}{
		{[]string{`INSERT INTO plain VALUE {'id': 'y'}`, `UPDATE plain SET n = n + 1 WHERE id = 'x'`, `DELETE FROM plain WHERE id = 'z'`}, `{"Responses":[]}`},
		{[]string{`EXISTS(SELECT * FROM plain WHERE id = 'x' AND gone IS MISSING)`, `INSERT INTO plain VALUE {'id': 'y'}`}, `{"Responses":[]}`},
		{
			[]string{`EXISTS(SELECT * FROM plain WHERE id = 'x' AND n IS MISSING)`, `INSERT INTO plain VALUE {'id': 'y'}`},
			cancelled + "[ConditionalCheckFailed, None] (ConditionalCheckFailed: The conditional request failed) (None: )",
		},
		{
			[]string{`EXISTS(SELECT * FROM plain WHERE id = 'nobody' AND n IS MISSING)`},
			cancelled + "[ConditionalCheckFailed] (ConditionalCheckFailed: The conditional request failed)",
		},
		{
			[]string{`INSERT INTO plain VALUE {'id': 'x'}`, `INSERT INTO plain VALUE {'id': 'y'}`},
			cancelled + "[DuplicateItem, None] (DuplicateItem: Duplicate primary key exists in table) (None: )",
		},
		{
			[]string{`DELETE FROM plain WHERE id = 'x' AND n = 9`, `INSERT INTO plain VALUE {'id': 1}`},
			cancelled + "[ConditionalCheckFailed, ValidationError] (ConditionalCheckFailed: The conditional request failed) " +
				"(ValidationError: One or more parameter values were invalid: Type mismatch for key id expected: S actual: N)",
		},
		{
			[]string{`DELETE FROM plain WHERE id = 'x'`, `UPDATE plain SET n = 1 WHERE id = 'x'`},
			"ValidationException: Transaction request cannot include multiple operations on one item",
		},
		{[]string{`EXISTS(SELECT * FROM plain WHERE id = 'x')`}, invalid + "EXISTS() must contain a single item read with additional condition"},
		{[]string{`UPDATE plain SET n = 1 WHERE id = 'x' RETURNING ALL NEW *`}, invalid + "RETURNING clause is not supported in ExecuteTransaction."},
		{[]string{`UPDATE plain SET n = 1 WHERE`}, invalid + "Statement wasn't well formed, can't be processed: Unexpected term"},
		{[]string{`DELETE FROM none WHERE id = 'x'`}, "ResourceNotFoundException: Requested resource not found"},
		{[]string{one, `DELETE FROM plain WHERE id = 'y'`}, "ValidationException: ExecuteTransaction API does not support both read and write operations in the same request."},

		{[]string{one, `SELECT n FROM plain WHERE id = 'nobody'`, `SELECT n FROM plain WHERE id = 'w'`}, `{"Responses":[{"Item":{"id":{"S":"x"},"n":{"N":"1"}}},{},{"Item":{"n":{"N":"2"}}}]}`},
		{[]string{`SELECT n FROM plain WHERE id = 'x' AND (id = 'x')`}, `{"Responses":[{"Item":{"n":{"N":"1"}}}]}`},
		{[]string{`SELECT gone FROM plain WHERE id = 'x'`, `SELECT n FROM plain WHERE id = 'x2'`}, `{"Responses":[{},{}]}`},
		{
			[]string{`INSERT INTO plain VALUE {'id': 1}`, `DELETE FROM plain WHERE id = 'x' AND n = 9`},
			cancelled + "[ValidationError, None] (ValidationError: One or more parameter values were invalid: Type mismatch for key id expected: S actual: N) (None: )",
		},
		{[]string{one, one}, "ValidationException: Transaction request cannot include multiple operations on one item"},
		{[]string{one, `SELECT * FROM plain WHERE id = 1`}, cancelled + "[None, ValidationError] (None: ) (ValidationError: The provided key element does not match the schema)"},
		{[]string{one + ` AND n = 1`}, invalid + "Select statements within ExecuteTransaction must specify the primary key in the where clause."},
		{[]string{`SELECT * FROM plain`}, invalid + "Select statements within ExecuteTransaction must specify the primary key in the where clause."},
		{[]string{`SELECT * FROM music."by-year" WHERE artist = 'x' AND song = 1`}, invalid + "Reads on indices are not supported within transactions."},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.statements, "; "), func(t *testing.T) {
			t.Parallel()
			eng := newEngine(t, engine.Options{})
			do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"},"n":{"N":"1"}}}`)
			do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"w"},"n":{"N":"2"}}}`)
			list := make([]string, len(tt.statements))
			for i, s := range tt.statements {
				list[i] = ask(s, "")
			}
			before := answer(t, eng, "Scan", `{"TableName":"plain"}`)
			got := answer(t, eng, "ExecuteTransaction", `{"TransactStatements":[`+strings.Join(list, ",")+`]}`)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			wrote := got == `{"Responses":[]}`
			if after := answer(t, eng, "Scan", `{"TableName":"plain"}`); (after == before) == wrote {
				t.Errorf("from %s\nto %s", before, after)
			}
		})
	}
}

func TestTransactionOfStatementsTakesEffectOnce(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"},"n":{"N":"1"}}}`)
	body := `{"ClientRequestToken":"once","TransactStatements":[{"Statement":"UPDATE plain SET n = n + ? WHERE id = 'x'","Parameters":[{"N":"%d"}]}]}`
	for range 2 {
		do(t, eng, "ExecuteTransaction", fmt.Sprintf(body, 1))
	}
	if got := answer(t, eng, "ExecuteTransaction", fmt.Sprintf(body, 2)); !strings.HasPrefix(got, "IdempotentParameterMismatchException") {
		t.Errorf("another payload: %s", got)
	}
	if got, want := execute(t, eng, `SELECT n FROM plain WHERE id = 'x'`, ""), items(`{"n":{"N":"2"}}`); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestStatementConstraints(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat(`{"Statement":"SELECT * FROM plain"},`, 101), ",")
	testRefusals(t, newEngine(t, engine.Options{}), []refusal{
		{"none", "ExecuteStatement", `{}`, "Validation", "Value null at 'statement' failed to satisfy constraint: Member must not be null"},
		{"empty", "ExecuteStatement", `{"Statement":""}`, "Validation", "Member must have length greater than or equal to 1"},
		{"long", "ExecuteStatement", `{"Statement":"` + strings.Repeat("x", 8193) + `"}`, "Validation", "Member must have length less than or equal to 8192"},
		{"no parameters", "ExecuteStatement", `{"Statement":"x","Parameters":[]}`, "Validation", "at 'parameters' failed to satisfy constraint: Member must have length greater"},
		{"limit", "ExecuteStatement", `{"Statement":"SELECT * FROM plain","Limit":0}`, "Validation", "at 'limit'"},
		{"an empty batch", "BatchExecuteStatement", `{"Statements":[]}`, "Validation", "at 'statements'"},
		{"no batch", "BatchExecuteStatement", `{}`, "Validation", "Value null at 'statements'"},
		{"a large batch", "BatchExecuteStatement", `{"Statements":[` + many + `]}`, "Validation", "less than or equal to 25"},
		{"an empty transaction", "ExecuteTransaction", `{"TransactStatements":[]}`, "Validation", "at 'transactStatements'"},
		{"a large transaction", "ExecuteTransaction", `{"TransactStatements":[` + many + `]}`, "Validation", "less than or equal to 100"},
		{"a member without a statement", "BatchExecuteStatement", `{"Statements":[{}]}`, "Validation", "at 'statements.1.member.statement'"},
		{"a wrong type", "ExecuteStatement", `{"Statement":1}`, "Serialization", ""},

		{"no such table", "ExecuteStatement", ask(`SELECT * FROM none WHERE id = 'x'`, ""), "ResourceNotFound", "Requested resource not found"},
		{"a key of another type", "ExecuteStatement", ask(`SELECT * FROM plain WHERE id = 1`, ""), "Validation", "Condition parameter type does not match schema type"},
		{"an unknown type name", "ExecuteStatement", ask(`SELECT * FROM plain WHERE attribute_type(n, 'X')`, ""), "Validation", "Invalid attribute type name found; type: X"},
		{"a type name that is no string", "ExecuteStatement", ask(`SELECT * FROM plain WHERE attribute_type(n, 1)`, ""), "Validation", "operator or function: attribute_type, operand type: N"},
		{"an operand for a condition", "ExecuteStatement", ask(`SELECT * FROM plain WHERE size(n)`, ""), "Validation", "size"},
		{"a condition for an operand", "ExecuteStatement", ask(`SELECT * FROM plain WHERE contains(n, m = 1)`, ""), "Validation", "="},
		{"a value for a condition", "ExecuteStatement", ask(`SELECT * FROM plain WHERE ?`, `[{"BOOL":true}]`), "Validation", ""},
		{"a reverse range", "ExecuteStatement", ask(`SELECT * FROM plain WHERE n BETWEEN 2 AND 1`, ""), "Validation", "upper bound"},
		{"too many candidates", "ExecuteStatement", ask(`SELECT * FROM plain WHERE n IN [`+strings.Repeat("1,", 100)+`1]`, ""), "Validation", "number of operands: 101"},
		{"order without a condition", "ExecuteStatement", ask(`SELECT * FROM plain ORDER BY id`, ""), "Validation", "Must have WHERE clause"},
		{"order by another attribute", "ExecuteStatement", ask(`SELECT * FROM plain WHERE id = 'x' ORDER BY n`, ""), "Validation", "Attribute n in ORDER BY clause must be part of the primary key"},
		{"order of a scan", "ExecuteStatement", ask(`SELECT * FROM plain WHERE id > 'x' ORDER BY id`, ""), "Validation", "Must have at least one non-optional hash key condition"},
		{"order of partitions", "ExecuteStatement", ask(`SELECT * FROM music WHERE artist IN ['a', 'b'] ORDER BY song`, ""), "Validation", "Must have hash key in ORDER BY clause"},
		{"inside a key", "ExecuteStatement", ask(`SELECT * FROM plain WHERE id = 'x' AND id.x = 1`, ""), "Validation", "Key attributes must be scalars"},
		{"an empty key", "ExecuteStatement", ask(`SELECT * FROM plain WHERE id = ''`, ""), "Validation", "cannot contain an empty string value"},
	})
}

func TestHooksSeeWhatStatementsAreAbout(t *testing.T) {
	t.Parallel()
	var seen []target.Target
	eng := newEngine(t, engine.Options{Hook: func(_ context.Context, call *engine.Call) engine.Decision {
		seen = call.Targets
		return engine.Decision{}
	}})
	for _, tt := range []struct{ op, body, want string }{
		{"ExecuteStatement", ask(`INSERT INTO plain VALUE {'id': ?, 'n': 1}`, `[{"S":"x"}]`), `plain// {"id":{"S":"x"}}`},
		{"ExecuteStatement", ask(`UPDATE plain SET n = 2 WHERE id = 'x' AND n = 1`, ""), `plain// {"id":{"S":"x"}}`},
		{"ExecuteStatement", ask(`SELECT * FROM plain WHERE n = 1`, ""), `plain// null`},
		{"ExecuteStatement", ask(`SELECT * FROM music."by-year" WHERE artist = 'x' AND song = 1`, ""), `music/by-year/ null`},
		{"ExecuteStatement", ask(`SELECT * FROM music WHERE artist = 'x' AND song > 1`, ""), `music// {"artist":{"S":"x"}}`},
		{"ExecuteStatement", ask(`SELECT * FROM music WHERE artist = 'x' OR song = 1`, ""), `music// null`},
		{"ExecuteStatement", ask(`nonsense`, ""), `// null`},
		{"BatchExecuteStatement", `{"Statements":[` + ask(`nonsense`, "") + `,` + ask(`SELECT * FROM plain WHERE id = 'x'`, "") + `]}`, `// null plain// {"id":{"S":"x"}}`},
		{"BatchExecuteStatement", `{"Statements":[` + ask(`DELETE FROM plain WHERE id = 'x'`, "") + `,` + ask(`DELETE FROM none WHERE id = 'x'`, "") + `]}`, `plain// {"id":{"S":"x"}} none// null`},
		{"ExecuteTransaction", `{"TransactStatements":[` + ask(`SELECT * FROM plain WHERE id = 'x'`, "") + `]}`, `plain// {"id":{"S":"x"}}`},
	} {
		eng.Do(t.Context(), tt.op, []byte(tt.body))
		var got []string
		for _, target := range seen {
			key := "null"
			if target.Key != nil {
				key = string(target.Key.AppendJSON(nil))
			}
			got = append(got, target.Table+"/"+target.Index+"/ "+key)
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.body, got, tt.want)
		}
	}
}
