package run

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/examples/quill/config"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The page has exactly the variables that quill reads, without those of the
// SDK.
func TestReadmeHasTheVariables(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	if _, err := config.Load(func(name string) (string, bool) { read[name] = true; return "", false }); err != nil {
		t.Fatal(err)
	}
	text := readme(t)
	table, _, _ := strings.Cut(text[strings.Index(text, "| variable |"):], "\n\n")
	rows := map[string]bool{}
	for _, row := range strings.Split(table, "\n") {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, name := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(cell, -1) {
			rows[name[1]] = true
			if !read[name[1]] {
				t.Errorf("%s is not read", name[1])
			}
		}
	}
	for name := range read {
		if !rows[name] && !strings.HasPrefix(name, "AWS_") {
			t.Errorf("%s is not in the table", name)
		}
	}
}

// The page's measures are those that quill creates, and its files and commands
// exist.
func TestReadmeIsTrue(t *testing.T) {
	t.Parallel()
	text := readme(t)
	made := map[string]string{}
	for _, table := range fact.Tables {
		for _, measure := range table.Measures {
			made[measure.Name] = measure.DAX
		}
	}
	measures := regexp.MustCompile(`(?m)^([A-Z][A-Za-z ]+?) += (.+)$`).FindAllStringSubmatch(text, -1)
	for _, m := range measures {
		if made[m[1]] != m[2] {
			t.Errorf("%s is %s, the page has %s", m[1], made[m[1]], m[2])
		}
	}
	if len(measures) < 5 {
		t.Errorf("%d measures", len(measures))
	}
	files := regexp.MustCompile("`([a-z]+/(?:[a-z]+\\.go)?)`").FindAllStringSubmatch(text, -1)
	for _, file := range files {
		if _, err := os.Stat(filepath.Join("..", file[1])); err != nil {
			t.Error(err)
		}
	}
	if len(files) < 15 {
		t.Errorf("%d files", len(files))
	}
	for command := range commands {
		if !strings.Contains(text, "\ngo run -C examples/quill . "+command) {
			t.Errorf("the page does not have %s", command)
		}
	}
}

// After the page's steps for the count of a full table, the row is still
// readable.
func TestReadmeResetsTheCount(t *testing.T) {
	t.Parallel()
	expression := regexp.MustCompile(`--update-expression '([^']+)'`).FindStringSubmatch(readme(t))
	if expression == nil {
		t.Fatal("the page has no command")
	}
	s := newBubbleService(t, map[string]string{"ALOWARE_TOKEN": "t"}, Program{})
	full := outbox.Poster{Fence: 7, PostAt: time.Unix(1795240800, 0), Hour: map[int64]outbox.Window{29920680: {Rows: 3, Posts: 1}}, Total: map[string]int64{fact.Changes: 5_000_000}}
	if err := s.stores.facts.SavePoster(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	_, err := s.db.Client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &s.cfg.FactsTable, Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "POSTER"}},
		UpdateExpression: &expression[1], ExpressionAttributeNames: map[string]string{"#total": "total"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.stores.facts.LoadPoster(t.Context())
	if err != nil || got.Fence != 7 || len(got.Hour) != 1 || got.Total[fact.Changes] != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
