package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

// Requests are read into the room of those before them. What these have stored
// stays as it was.
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
