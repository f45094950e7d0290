package browser

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
)

var days = []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// scan reads a table, without the packages that the page is made with.
func scan[T any](t *testing.T, w world, name string) (rows []T) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(w.db.Client(), &dynamodb.ScanInput{TableName: aws.String(name)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var some []T
		if err := attributevalue.UnmarshalListOfMaps(out.Items, &some); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, some...)
	}
	return rows
}

type doneRow struct {
	ChatID    string `dynamodbav:"chatId"`
	UserName  string `dynamodbav:"userName"`
	Activity  string `dynamodbav:"activity"`
	Timestamp int64  `dynamodbav:"timestamp"`
}

type countRow struct {
	ChatID string `dynamodbav:"chatId"`
	Date   string `dynamodbav:"date"`
	Count  int    `dynamodbav:"count"`
}

type household struct {
	SK     string `dynamodbav:"sk"`
	Type   string `dynamodbav:"type"`
	Status string `dynamodbav:"status"`
}

// TestNumbers compares the page's numbers with counts of the tables themselves.
func TestNumbers(t *testing.T) {
	w := conversation(t)
	stockholm, err := time.LoadLocation("Europe/Stockholm")
	if err != nil {
		t.Fatal(err)
	}
	var homes []string
	for _, row := range scan[household](t, w, "homeops") {
		if row.Type == "HOUSEHOLD" {
			homes = append(homes, row.SK)
		}
	}
	if len(homes) != 1 {
		t.Fatalf("the test is for one household: %q", homes)
	}
	for _, window := range windows {
		b := open(t, window, w.url)
		at, err := time.Parse(time.RFC3339, ask[string](b, `document.querySelector("time").dateTime`))
		if err != nil {
			t.Fatal(err)
		}
		at = at.In(stockholm)
		midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, stockholm)
		monday := midnight.AddDate(0, 0, -(int(at.Weekday())+6)%7)
		heat := make([][]int, 24)
		for hour := range heat {
			heat[hour] = make([]int, 7)
		}
		weeks := []map[string]map[string]int{{}, {}}
		total := 0
		for _, row := range scan[doneRow](t, w, "homeops-activities") {
			when := time.UnixMilli(row.Timestamp).In(stockholm)
			if row.ChatID != homes[0] || when.Before(monday.AddDate(0, 0, -49)) {
				continue
			}
			total++
			heat[when.Hour()][(int(when.Weekday())+6)%7]++
			for i, from := range []time.Time{monday, monday.AddDate(0, 0, -7)} {
				if when.Before(from) || !when.Before(from.AddDate(0, 0, 7)) {
					continue
				}
				for _, name := range []string{row.Activity, "Sum"} {
					if weeks[i][name] == nil {
						weeks[i][name] = map[string]int{}
					}
					weeks[i][name][row.UserName]++
					weeks[i][name]["Sum"]++
				}
			}
		}
		if total < 50 {
			t.Errorf("%d activities", total)
		}
		if diff := cmp.Diff(heat, b.drawn()); diff != "" {
			t.Errorf("%s: the drawing:\n%s", window.name, diff)
		}
		for title, table := range b.tables() {
			switch {
			case strings.HasPrefix(title, "Activities in"):
				if diff := cmp.Diff(heat, counts(table, 24)); diff != "" {
					t.Errorf("the table of hours:\n%s", diff)
				}
				if got := table["Sum"]["Sum"]; got != strconv.Itoa(total) {
					t.Errorf("%s in all, want %d", got, total)
				}
			case strings.HasPrefix(title, "This week"):
				same(t, table, weeks[0])
			case strings.HasPrefix(title, "Last week"):
				same(t, table, weeks[1])
			case title == "Cost by table":
				addsUp(t, table)
			default:
				t.Errorf("a table %q", title)
			}
		}
		said := map[string]int{}
		for _, row := range scan[countRow](t, w, "homeops-response-counters") {
			if row.Date == at.Format(time.DateOnly) {
				said[row.ChatID] = row.Count
			}
		}
		figures := ask[[]string](b, `[...document.querySelectorAll("dl dd")].map(e => e.textContent.replace(/\s+/g, " ").trim())`)
		for _, want := range []string{fmt.Sprintf("%d of 3", said[homes[0]]), fmt.Sprintf("%d of 50", said[homes[0]+"#answers"])} {
			if !slices.Contains(figures, want) {
				t.Errorf("%q is not among %q", want, figures)
			}
		}
	}
}

// same compares a week's table with what was counted; somebody who has done
// nothing has 0.
func same(t *testing.T, got table, want map[string]map[string]int) {
	t.Helper()
	if len(got) != len(want) || len(want) < 3 {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	for activity, by := range got {
		for person, n := range by {
			if n != strconv.Itoa(want[activity][person]) {
				t.Errorf("%s of %s: %s, want %d", activity, person, n, want[activity][person])
			}
		}
		for person := range want[activity] {
			if by[person] == "" {
				t.Errorf("%s of %s: is not in the table", activity, person)
			}
		}
	}
}

// addsUp checks that the last row of the costs is the sum of the others, and that
// it has money.
func addsUp(t *testing.T, got table) {
	t.Helper()
	for _, column := range []string{"Requests", "Read units", "Write units"} {
		sum := 0.0
		for name, row := range got {
			n, err := strconv.ParseFloat(row[column], 64)
			if err != nil || n <= 0 && name == "Sum" {
				t.Errorf("%s of %s: %q", column, name, row[column])
			}
			if name == "Sum" {
				n = -n
			}
			sum += n
		}
		if sum != 0 {
			t.Errorf("%s: the sum is off by %g", column, sum)
		}
	}
	for name, row := range got {
		if !strings.HasPrefix(row["Money"], "$0.0") {
			t.Errorf("%s costs %q", name, row["Money"])
		}
	}
}
