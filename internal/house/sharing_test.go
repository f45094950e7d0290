package house

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/limit"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// names are the names of a table's key and TTL. "" is the store's default.
type names struct{ partition, sort, ttl string }

// definitions make a store with these names, as far as its Config has such
// fields, and return its table.
var definitions = []struct {
	store string
	table func(*testing.T, names) (schema.Table, error)
}{
	{"ledger", func(t *testing.T, n names) (schema.Table, error) {
		return defined(ledger.New(recordtest.Silent(t), table, &ledger.Config{Names: set(map[string]string{"pk": n.partition, "expiresAt": n.ttl})}))
	}},
	{"counter", func(t *testing.T, n names) (schema.Table, error) {
		return defined(counter.New(recordtest.Silent(t), table, tzclock.UTC, &counter.Config{Names: set(map[string]string{"chatId": n.partition, "date": n.sort, "ttl": n.ttl})}))
	}},
	{"activity", func(t *testing.T, n names) (schema.Table, error) {
		return defined(activity.New(recordtest.Silent(t), table, &activity.Config{Names: set(map[string]string{"chatId": n.partition, "activityId": n.sort})}))
	}},
	{"message", func(t *testing.T, n names) (schema.Table, error) {
		return defined(message.New(recordtest.Silent(t), table, &message.Config{Names: set(map[string]string{"chatId": n.partition, "messageId": n.sort})}))
	}},
	{"alias", func(t *testing.T, n names) (schema.Table, error) {
		return defined(alias.New(recordtest.Silent(t), table, &alias.Config{Names: set(map[string]string{"pk": n.partition, "sk": n.sort})}))
	}},
	{"pattern", func(t *testing.T, n names) (schema.Table, error) {
		return defined(pattern.New(recordtest.Silent(t), table, tzclock.UTC, &pattern.Config{Names: set(map[string]string{"pk": n.partition, "sk": n.sort})}))
	}},
	{"ema", func(t *testing.T, n names) (schema.Table, error) {
		return defined(ema.New(recordtest.Silent(t), table, &ema.Config{Names: set(map[string]string{"pk": n.partition, "sk": n.sort})}))
	}},
	{"limit", func(t *testing.T, n names) (schema.Table, error) {
		return defined(limit.New(recordtest.Silent(t), table, &limit.Config{Names: set(map[string]string{"pk": n.partition, "sk": n.sort, "ttl": n.ttl})}))
	}},
	{"record", func(t *testing.T, _ names) (schema.Table, error) {
		return defined(record.New(recordtest.Silent(t), table, ratings, nil))
	}},
}

// ratings are a record of the caller's own.
var ratings = record.Kind[int64]{
	Package: "rating", Type: "RATING", Count: "ratings",
	Decode: func(row record.Item) (int64, error) { f := record.Read(row); return f.Int("stars"), f.Err() },
}

// set are the names that are set.
func set(names map[string]string) map[string]string {
	maps.DeleteFunc(names, func(_, name string) bool { return name == "" })
	return names
}

func defined[S interface{ Table() schema.Table }](store S, err error) (schema.Table, error) {
	if err != nil {
		return schema.Table{}, err
	}
	return store.Table(), nil
}

// share says whether two stores' definitions fit one table: with their default
// names, or with the default names of either of them or of alias.
func share(t *testing.T, a, b int) string {
	t.Helper()
	tries := []names{{}, {partition: "pk", sort: "sk", ttl: "ttl"}}
	for _, i := range []int{a, b} {
		of, err := definitions[i].table(t, names{})
		if err != nil {
			t.Fatal(err)
		}
		tries = append(tries, names{of.Key.Partition.Name, of.Key.Sort.Name, of.TTL})
	}
	for n, try := range tries {
		one, err1 := definitions[a].table(t, try)
		two, err2 := definitions[b].table(t, try)
		if err1 != nil || err2 != nil {
			continue // a name that the store uses for something else
		}
		if _, err := schema.Merge(one, two); err == nil {
			return map[bool]string{true: "yes", false: "names"}[n == 0]
		}
	}
	return "no"
}

// The page's matrix is that of the stores' own definitions, with the default key
// of each.
func TestSharingMatrix(t *testing.T) {
	t.Parallel()
	var matrix, keys strings.Builder
	matrix.WriteString("| |")
	for _, d := range definitions {
		matrix.WriteString(" " + d.store + " |")
	}
	matrix.WriteString("\n|---|" + strings.Repeat("---|", len(definitions)) + "\n")
	for a, d := range definitions {
		matrix.WriteString("| **" + d.store + "** |")
		for b := range definitions {
			matrix.WriteString(" " + share(t, a, b) + " |")
		}
		matrix.WriteString("\n")
		of, err := d.table(t, names{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&keys, "| %s | `%s` | %s |\n", d.store, of.Key, ttlText(of.TTL))
	}
	page := read(t, "docs/sharing-tables.md")
	for _, want := range []string{matrix.String(), keys.String()} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/sharing-tables.md does not have\n%s", want)
		}
	}
}

func ttlText(ttl string) string {
	if ttl == "" {
		return "–"
	}
	return "`" + ttl + "`"
}
