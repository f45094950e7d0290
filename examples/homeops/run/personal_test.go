package run

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/personal"
)

func TestExportAndErase(t *testing.T) {
	t.Parallel()
	server := dynamotest.NewServer(nil)
	endpoint := httptest.NewServer(server.Handler())
	defer endpoint.Close()
	env := map[string]string{"DYNAMO_ENDPOINT": endpoint.URL, "DYNAMO_TTL_DAYS": "20"}
	in := `{"update_id":1,"message":{"message_id":1,"date":1773140000,"from":{"id":7042,"first_name":"Eva"},"chat":{"id":-5,"type":"group"},"text":"Jag har diskat"}}`
	if got := run(t, env, in, "-updates", "-"); got.exit != exitOK {
		t.Fatalf("%+v", got)
	}
	exported := run(t, env, "", "export", "person", "7042")
	var records []string
	for line := range strings.Lines(exported.out) {
		var row personal.Row
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Item == nil || row.Key == nil || !strings.HasPrefix(line, `{"table":"homeops`) {
			t.Errorf("%s: %v", line, err)
		}
		records = append(records, row.Record)
	}
	if got := strings.Join(records, " "); exported.exit != exitOK || got != "habit name message member effort activity person" {
		t.Errorf("%q: %+v", got, exported)
	}
	for _, want := range []string{"1 message found\n", "Looked through: -5\n", "after 20 days and an hour", "35 days", "dlq list"} {
		if !strings.Contains(exported.err, want) {
			t.Errorf("%q is not in %s", want, exported.err)
		}
	}
	if got := run(t, env, "", "erase", "person", "7042"); got != exported {
		t.Errorf("without -write: %+v", got)
	}
	got := run(t, env, "", "erase", "-write", "person", "7042", "-6")
	if got.exit != exitOK || got.out != "" || !strings.Contains(got.err, "1 activity gone or changed\n") ||
		!strings.Contains(got.err, "homeops erase person 7042 -5 -6 -write\n") {
		t.Errorf("%+v", got)
	}
	for _, command := range [][]string{{"erase", "person", "7042", "-5", "-write"}, {"export", "person", "1"}} {
		got := run(t, env, "", command...)
		if got.exit != exitOK || got.out != "" || !strings.Contains(got.err, "no key leads to stored data of person "+command[2]+"\n") {
			t.Errorf("%v: %+v", command, got)
		}
	}
	if got := run(t, env, "", "export", "person", "1"); !strings.Contains(got.err, "\nLooked through: no chat\n") {
		t.Errorf("%+v", got)
	}
	if got := run(t, env, "", "erase", "chat", "-5", "-write"); got.exit != exitOK || !strings.Contains(got.err, "1 household gone or changed\n") {
		t.Errorf("%+v", got)
	}
}

func TestExportAndEraseAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"export"},
		{"export", "person"},
		{"export", "-write", "person", "7"},
		{"erase", "chats", "-5"},
		{"erase", "person", "-5"},
		{"erase", "person", "x"},
		{"erase", "person", "0"},
		{"erase", "person", "07"},
		{"erase", "chat", "-5", "-6"},
		{"erase", "person", "7", "y"},
	} {
		if got := run(t, map[string]string{"DYNAMO_ENDPOINT": "http://127.0.0.1:1"}, "", args...); got.exit != exitUsage || !strings.Contains(got.err, "homeops export person ID") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := run(t, nil, "", "erase", "person", "7", "-write"); got.exit != exitFailed || !strings.Contains(got.err, "erase: set DYNAMO_ENDPOINT or AWS credentials: otherwise the database would end") {
		t.Errorf("%+v", got)
	}
}
