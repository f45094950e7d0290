package run

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// listener notes the requests to a DynamoDB, such as "PutItem marks" and "Query
// facts/pending-index".
type listener struct {
	next http.Handler

	mu   sync.Mutex
	sent map[string]bool
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var request struct {
		TableName, IndexName string
		RequestItems         map[string]any
		TransactItems        []map[string]struct{ TableName string }
	}
	_ = json.Unmarshal(body, &request) // the server says what is wrong
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	l.mu.Lock()
	for table := range request.RequestItems {
		l.sent[op+" "+table] = true
	}
	for _, item := range request.TransactItems {
		for action, on := range item {
			l.sent[map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}[action]+" "+on.TableName] = true
		}
	}
	if request.TableName != "" {
		l.sent[op+" "+strings.TrimSuffix(request.TableName+"/index/"+request.IndexName, "/index/")] = true
	}
	l.mu.Unlock()
	l.next.ServeHTTP(w, r)
}

// The template grants what the program sends, except creating tables, which it does
// only on an endpoint.
func TestTemplateGrantsWhatIsSent(t *testing.T) {
	t.Parallel()
	l := &listener{next: dynamotest.NewServer(nil).Handler(), sent: map[string]bool{}}
	dynamo := httptest.NewServer(l)
	defer dynamo.Close()
	env := environment(map[string]string{
		"DYNAMO_ENDPOINT": dynamo.URL, "DYNAMO_TABLE_NAME": "marks", "QUILL_FACTS_TABLE": "facts", "ALOWARE_TOKEN": "t",
		"CUTOVER_AT": time.Now().Add(time.Hour).Format(time.RFC3339),
	})
	s := startServer(t, Program{Env: env, Ending: atOnce, Idle: time.Millisecond})
	s.aloware(call(1, "ringing"), `{"received":1,"new":0,"duplicate":0,"refused":0,"waiting":1}`)
	s.aloware(call(1, "completed"), `{"received":1,"new":1,"duplicate":0,"refused":0,"waiting":0}`)
	s.aloware(call(1, "missed"), `{"received":1,"new":0,"duplicate":1,"refused":0,"waiting":0}`)
	s.aloware("{", `{"received":1,"new":0,"duplicate":0,"refused":1,"waiting":0}`)
	s.ready("posted 1\n")
	s.Stop()
	s.end(exitOK)
	for _, args := range [][]string{{"facts", "ALOWARE:CALL:1"}, {"refused"}} {
		if exit, _, said := called(t, Program{Env: env}, args...); exit != exitOK {
			t.Errorf("%s: %s", args[0], said)
		}
	}

	granted := map[string]bool{}
	_, out, _ := called(t, Program{Env: env}, "template")
	var template struct {
		Resources map[string]struct {
			Properties struct {
				PolicyDocument struct {
					Statement []struct {
						Action   []string
						Resource []map[string]string
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &template); err != nil {
		t.Fatal(err)
	}
	for _, s := range template.Resources["QuillPolicy"].Properties.PolicyDocument.Statement {
		for _, action := range s.Action {
			for _, resource := range s.Resource {
				_, table, _ := strings.Cut(resource["Fn::Sub"], ":table/")
				granted[strings.TrimPrefix(action, "dynamodb:")+" "+table] = true
			}
		}
	}
	for _, sent := range slices.Sorted(maps.Keys(l.sent)) {
		op, _, _ := strings.Cut(sent, " ")
		if !granted[sent] && !slices.Contains([]string{"CreateTable", "UpdateTimeToLive", "UpdateContinuousBackups"}, op) {
			t.Errorf("%s is sent and not granted", sent)
		}
	}
	for _, must := range []string{"BatchGetItem marks", "PutItem marks", "PutItem facts", "UpdateItem marks", "Query facts/index/pending-index"} {
		if !l.sent[must] {
			t.Errorf("%s is not sent: %v", must, slices.Sorted(maps.Keys(l.sent)))
		}
	}
}
