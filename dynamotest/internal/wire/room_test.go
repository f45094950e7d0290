package wire_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

// Requests are read into the memory of earlier ones. Items that those stored do
// not change.
func TestBodiesShareRoom(t *testing.T) {
	t.Parallel()
	h := wire.Handler(newEngine(t, nil))
	item := func(i int) string {
		text := strings.Repeat(string(rune('a'+i)), 100+10*(i%2))
		return fmt.Sprintf(`{"id":{"S":"%d"},"n":{"N":"%d"},"s":{"SS":["%s"]},"v":{"S":"%[3]s"}}`, i, i, text)
	}
	for i := range 8 {
		if w := perform(t, h, "POST", "PutItem", []byte(`{"TableName":"plain","Item":`+item(i)+`}`)); w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	for i := range 8 {
		w := perform(t, h, "POST", "GetItem", fmt.Appendf(nil, `{"TableName":"plain","Key":{"id":{"S":"%d"}}}`, i))
		if want := `{"Item":` + item(i) + `}`; w.Body.String() != want {
			t.Errorf("item %d is %s, want %s", i, w.Body, want)
		}
	}
}

// A reply in process is the caller's, who may read it after later ones.
func TestRepliesInProcessShareNoRoom(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, nil)
	ask := func(op, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://dynamotest.invalid", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+op)
		res, err := wire.Transport{Engine: eng}.RoundTrip(r)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res, err)
		}
		return res
	}
	replies := make([]*http.Response, 8)
	for i := range replies {
		ask("PutItem", fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"S":"%d"}}}`, i))
		replies[i] = ask("GetItem", fmt.Sprintf(`{"TableName":"plain","Key":{"id":{"S":"%d"}}}`, i))
	}
	for i, res := range replies {
		got, err := io.ReadAll(res.Body)
		if want := fmt.Sprintf(`{"Item":{"id":{"S":"%d"}}}`, i); err != nil || string(got) != want {
			t.Errorf("%s %v, want %s", got, err, want)
		}
	}
}
