package pricetest_test

import (
	"maps"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/pricetest"
)

// A method may have several prices, each on a line of its own.
func TestParse(t *testing.T) {
	got := pricetest.ParseAll("Do does.\n\nPrice: 2 requests, 2 WCU. More, if\nlarger.\nPrice (ReadFirst): 1 request, 0.5 RCU.\nPrice (of a day): 1 request.\n")
	want := map[string]dynamotest.Price{"": {Requests: 2, WCU: 2}, "ReadFirst": {Requests: 1, RCU: 0.5}}
	if !maps.Equal(got, want) {
		t.Errorf("ParseAll = %v, want %v", got, want)
	}
	for _, doc := range []string{"", "price: 1 request.", "Price: cheap.", "Price: 1 request, 1 WCU, 1 RCU."} {
		if got, ok := pricetest.Parse(doc); ok {
			t.Errorf("Parse(%q) = %v", doc, got)
		}
	}
}
