package explore

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// A cut divides a request: its first item is read or written now, and the rest
// remains a request.

// cuttable returns the request for the first item and the one for the others, or nil
// if the request has only one.
func (q *request) cuttable() (first, rest map[string]any) {
	var in map[string]any
	if q.effect != "" || json.Unmarshal(q.Body, &in) != nil {
		return nil, nil
	}

	switch q.Op {
	case "BatchWriteItem", "BatchGetItem":
		return cutBatch(in)
	case "Query", "Scan":
		if limit, ok := in["Limit"].(float64); in["Select"] == "COUNT" || ok && limit < 2 {
			return nil, nil
		}
		first, rest = maps.Clone(in), maps.Clone(in)
		first["Limit"] = 1
		if limit, ok := in["Limit"].(float64); ok {
			rest["Limit"] = limit - 1
		}
		return first, rest
	}
	return nil, nil
}

// cutBatch takes the first entry of the first table off.
func cutBatch(in map[string]any) (first, rest map[string]any) {
	tables, _ := in["RequestItems"].(map[string]any)
	entries := 0
	var of string

	for _, table := range slices.Sorted(maps.Keys(tables)) {
		n := len(entriesOf(tables[table]))
		if n > 0 && of == "" {
			of = table
		}
		entries += n
	}

	if entries < 2 {
		return nil, nil
	}

	all := entriesOf(tables[of])
	first, rest = maps.Clone(in), maps.Clone(in)
	first["RequestItems"] = map[string]any{of: withEntries(tables[of], all[:1])}
	others := maps.Clone(tables)
	others[of] = withEntries(tables[of], all[1:])
	if len(all) == 1 {
		delete(others, of)
	}

	rest["RequestItems"] = others
	return first, rest
}

// entriesOf returns the writes or keys of a table of a batch.
func entriesOf(table any) []any {
	if read, ok := table.(map[string]any); ok {
		table = read["Keys"]
	}
	entries, _ := table.([]any)
	return entries
}

func withEntries(table any, entries []any) any {
	if read, ok := table.(map[string]any); ok {
		read = maps.Clone(read)
		read["Keys"] = entries
		return read
	}
	return entries
}

// cut performs the first part of the request, and leaves the rest of it waiting. If
// nothing is left, it returns the answer.
func (w *world) cut(q *request) (answer, bool) {
	first, rest := q.cuttable()
	whole := *q
	q.Body, _ = json.Marshal(first)
	part := *q
	part.heard = nil
	a := w.serve(&part)
	if a.Status != http.StatusOK {
		*q = whole
		return a, true
	}

	var reply struct{ LastEvaluatedKey json.RawMessage }
	_ = json.Unmarshal(a.Body, &reply)
	if q.Op == "Query" || q.Op == "Scan" {
		if reply.LastEvaluatedKey == nil {
			return q.join(a), true
		}
		rest["ExclusiveStartKey"] = reply.LastEvaluatedKey
	}

	q.heard = append(q.heard, a.Body)
	q.Body, _ = json.Marshal(rest)
	q.targets = target.Of(target.Decode(q.Op, q.Body), w.keyOf)
	return answer{}, false
}

// join puts the replies to the parts of a request together.
func (q *request) join(last answer) answer {
	if len(q.heard) == 0 || last.Status != http.StatusOK {
		return last
	}

	var joined map[string]any
	for _, part := range append(slices.Clone(q.heard), last.Body) {
		var reply map[string]any
		if json.Unmarshal(part, &reply) != nil {
			return last
		}
		joined = merge(joined, reply)
	}

	var end map[string]any
	_ = json.Unmarshal(last.Body, &end)
	if _, more := end["LastEvaluatedKey"]; !more {
		delete(joined, "LastEvaluatedKey")
	}

	last.Body, _ = json.Marshal(joined)
	return last
}

// merge adds the reply b to the reply a of an earlier part, if there is one, and
// returns the sum. Lists are joined, counts are added, and the objects of a batch,
// by table, are merged in turn. Of any other member b's value replaces a's.
func merge(a, b map[string]any) map[string]any {
	if a == nil {
		return b
	}

	for key, value := range b {
		old, both := a[key]
		switch value := value.(type) {
		case []any:
			if both && reflect.TypeOf(old) == reflect.TypeOf(value) {
				a[key] = append(old.([]any), value...)
				continue
			}
		case float64:
			if both && (key == "Count" || key == "ScannedCount") {
				a[key] = old.(float64) + value
				continue
			}
		case map[string]any:
			if both && (key == "Responses" || key == "UnprocessedItems" || key == "UnprocessedKeys") {
				a[key] = merge(old.(map[string]any), value)
				continue
			}
		}

		a[key] = value
	}
	return a
}
