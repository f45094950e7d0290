package endtoend

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// ofWriting are the attributes that say when a row was written, or by which
// attempt: they differ from one run to another.
var ofWriting = []string{
	"createdAt", "updatedAt", "seenAt", // when
	"expiresAt",               // of the ledger: that, and its retention
	"claim", "fence", "lease", // of the ledger: the attempt
}

// tables returns all tables and rows, one a line, without the attributes of
// ofWriting. A counter's event is without its attempt: "1~TU7Vzp4Un5U" is "1".
func tables(db *dynamotest.Server) ([]string, error) {
	var text bytes.Buffer
	if err := db.Dump(&text); err != nil {
		return nil, err
	}
	var rows []string
	for line := range strings.Lines(text.String()) {
		var row map[string]map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil || row["Item"] == nil {
			rows = append(rows, line) // a table
			continue
		}
		for name, value := range row["Item"] {
			attribute, _ := value.(map[string]any)
			if text, ok := attribute["S"].(string); ok && strings.HasPrefix(name, "e_") {
				attribute["S"], _, _ = strings.Cut(text, "~")
			}
			if slices.Contains(ofWriting, name) {
				delete(row["Item"], name)
			}
		}
		plain, err := json.Marshal(row)
		if err != nil {
			return nil, err
		}
		rows = append(rows, string(plain))
	}
	slices.Sort(rows)
	return rows, nil
}

func (w *world) tables() []string {
	w.t.Helper()
	rows, err := tables(w.db)
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}
