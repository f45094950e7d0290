package engine_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// seenAs returns what reads of the table see of the song, consistent or not.
func seenAs(t *testing.T, db *dynamodb.Client, consistent bool) string {
	t.Helper()
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("music"), Key: item("artist", "a", "song", 1), ConsistentRead: &consistent,
	})
	if err != nil {
		t.Fatal(err)
	}
	return text(out.Item["title"])
}

// seenIn returns what queries of a global index see of it.
func seenIn(t *testing.T, db *dynamodb.Client) string {
	t.Helper()
	out, err := db.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String("music"), IndexName: aws.String("genre-year"), KeyConditionExpression: aws.String("genre = :g"),
		ExpressionAttributeValues: item(":g", "folk"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Items) == 0 {
		return ""
	}
	return text(out.Items[0]["title"])
}

func folk(title string) []any {
	return []any{"artist", "a", "song", 1, "genre", "folk", "year", 2026, "title", title}
}

func TestEachLagIsItsOwn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name                   string
		reads, indexes         time.Duration
		inTable, inIndex, late string
	}{
		{"none", 0, 0, "new", "new", "new"},
		{"of reads", time.Second, 0, "old", "new", "new"},
		{"of indexes", 0, time.Second, "new", "old", "new"},
		{"of both", time.Second, time.Second, "old", "old", "new"},
	} {
		now := newClock()
		db := connect(newEngine(t, engine.Options{Now: now.Now, ReadLag: tc.reads, IndexLag: tc.indexes}))
		put(t, db, "music", item(folk("old")...))
		now.Advance(time.Minute)
		put(t, db, "music", item(folk("new")...))
		if got := seenAs(t, db, true); got != "new" {
			t.Errorf("a lag %s: a consistent read sees %q", tc.name, got)
		}
		if table, index := seenAs(t, db, false), seenIn(t, db); table != tc.inTable || index != tc.inIndex {
			t.Errorf("a lag %s: reads see %q, the index %q", tc.name, table, index)
		}
		now.Advance(time.Second)
		if table, index := seenAs(t, db, false), seenIn(t, db); table != tc.late || index != tc.late {
			t.Errorf("a lag %s, when it has passed: reads see %q, the index %q", tc.name, table, index)
		}
	}
}

func TestAHoldLastsUntilItsRelease(t *testing.T) {
	t.Parallel()
	for _, index := range []string{"", "genre-year"} {
		eng := newEngine(t, engine.Options{})
		db := connect(eng)
		put(t, db, "music", item(folk("old")...))
		release, err := eng.Hold("music", index)
		if err != nil {
			t.Fatal(err)
		}
		put(t, db, "music", item(folk("new")...))
		inTable, inIndex := "old", "new"
		if index != "" {
			inTable, inIndex = "new", "old"
		}
		if table, entry := seenAs(t, db, false), seenIn(t, db); table != inTable || entry != inIndex {
			t.Errorf("held %q: reads see %q, the index %q", index, table, entry)
		}
		if got := seenAs(t, db, true); got != "new" {
			t.Errorf("held %q: a consistent read sees %q", index, got)
		}
		release()
		if table, entry := seenAs(t, db, false), seenIn(t, db); table != "new" || entry != "new" {
			t.Errorf("released %q: reads see %q, the index %q", index, table, entry)
		}
	}
}
