package dynamotest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// The name has a typo: no such request comes.
var idleFault = dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Table: "oders"}

func TestAServerThatIsUsedIsWatched(t *testing.T) {
	t.Parallel()
	kept, err := dynamotest.OpenServer(filepath.Join(t.TempDir(), "data"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	restored := dynamotest.NewServer(nil)
	restored.Restore(seeded(t.Context(), 1).Snapshot())
	for name, srv := range map[string]*dynamotest.Server{
		"fork": seeded(t.Context(), 1).Fork(), "restored": restored, "with a file": kept,
	} {
		r := &recorder{TB: t}
		db := dynamotest.Use(r, srv)
		if db.Server() != srv || !db.InProcess() || db.Name("orders") != "orders" {
			t.Errorf("%s: not a database on the server", name)
		}
		srv.Tap().Inject(idleFault)
		db.Inject(idleFault)
		if r.finish(); len(r.errors) != 2 || !strings.Contains(r.errors[0], "LoseReply") {
			t.Errorf("%s: errors %q", name, r.errors)
		}
		if idle := srv.Tap().Heal(); len(idle) != 0 {
			t.Errorf("%s: after the test: %q", name, idle)
		}
	}
}

func TestWhatAServerHoldsOutlivesItsUse(t *testing.T) {
	t.Parallel()
	srv := seeded(t.Context(), 1)
	for n := range 2 {
		r := &recorder{TB: t}
		db := dynamotest.Use(r, srv)
		cost := srv.Tap().Meter(func() { _ = put(t.Context(), db.Client(), "orders", order("bo", n)) })
		cost.Want(t, dynamotest.Price{Requests: 1, WCU: 2})
		if r.finish(); len(r.errors) > 0 || count(t, srv.Client(), "orders") != 2+n {
			t.Errorf("errors %q, %d rows", r.errors, count(t, srv.Client(), "orders"))
		}
	}
}

// A fork with a clock of its own is a server that begins with the snapshot.
func TestAForkWithAClockOfItsOwn(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	db := dynamotest.New(t, &dynamotest.Config{From: seeded(t.Context(), 2).Snapshot(), Now: func() time.Time { return now }})
	_, reply := send(db.Server(), "DynamoDB_20120810.UpdateTable", `{"TableName":"orders","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}`)
	arn, _ := reply["TableDescription"].(map[string]any)["LatestStreamArn"].(string)
	if want := now.UTC().Format("2006-01-02T15:04"); !strings.Contains(arn, want) || count(t, db.Client(), "orders") != 2 {
		t.Errorf("stream %s begins at another time than %s", arn, want)
	}
}

// A streams client can send through the same HTTP client as the client of
// tables.
func TestRequestsOfOtherClientsAreMeteredAndDisturbed(t *testing.T) {
	srv := seeded(t.Context(), 1)
	listening := httptest.NewServer(srv.Handler())
	t.Cleanup(listening.Close)
	inProcess := dynamotest.Use(t, srv.Fork())
	t.Setenv("DYNAMODB_ENDPOINT", listening.URL)
	onEndpoint := dynamotest.Open(t)
	bare, alone := dynamotest.NewTap(), dynamotest.NewTap()
	for name, tt := range map[string]struct {
		tap    *dynamotest.Tap
		client interface {
			Do(*http.Request) (*http.Response, error)
		}
	}{
		"in process":  {inProcess.Tap(), inProcess.Client().Options().HTTPClient},
		"server":      {inProcess.Tap(), inProcess.Server().Client().Options().HTTPClient},
		"on endpoint": {onEndpoint.Tap(), onEndpoint.Client().Options().HTTPClient},
		"bare":        {bare, tapped(bare, http.DefaultClient)},
		"of nothing":  {alone, tapped(alone, nil)},
	} {
		list := func() (string, error) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, listening.URL, strings.NewReader(`{"TableName":"orders"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Amz-Target", "DynamoDBStreams_20120810.ListStreams")
			reply, err := tt.client.Do(r)
			if err != nil {
				return "", err
			}
			body, err := io.ReadAll(reply.Body)
			_ = reply.Body.Close()
			return string(body), err
		}
		tt.tap.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "ListStreams", Table: "orders"})
		cost := tt.tap.Meter(func() {
			if _, err := list(); err == nil || !strings.Contains(err.Error(), "connection reset") {
				t.Errorf("%s: the reply was not lost: %v", name, err)
			}
			if body, err := list(); err != nil || body != `{"Streams":[]}` {
				t.Errorf("%s: and then %s, %v", name, body, err)
			}
		})
		if diff := cmp.Diff(map[string]int{"ListStreams": 2}, cost.ByOp); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
