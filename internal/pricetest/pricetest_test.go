package pricetest_test

import (
	"maps"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/pricetest"
)

func TestParse(t *testing.T) {
	for doc, want := range map[string]dynamotest.Price{
		"Take takes.\n\nPrice: 1 request, 1 WCU.\n":                       {Requests: 1, WCU: 1},
		"Price: 2 requests, 1 RCU, 1 WCU; a conflict adds 1 WCU.":         {Requests: 2, RCU: 1, WCU: 1},
		"Price: 1 request, 0.5 RCU. A page adds 0.5 RCU for each 4 KB.\n": {Requests: 1, RCU: 0.5},
		"Price: 0 requests.": {},
	} {
		if got, ok := pricetest.Parse(doc); !ok || got != want {
			t.Errorf("Parse(%q) = %v, %v", doc, got, ok)
		}
	}
	for _, doc := range []string{"", "price: 1 request.", "Price: cheap.", "Price: 1 request, 1 WCU, 1 RCU."} {
		if got, ok := pricetest.Parse(doc); ok {
			t.Errorf("Parse(%q) = %v", doc, got)
		}
	}
}

// A method may have several prices, each on a line of its own.
func TestParseAll(t *testing.T) {
	got := pricetest.ParseAll("Do does.\n\nPrice: 2 requests, 2 WCU. More, if\nlarger.\nPrice (ReadFirst): 1 request, 0.5 RCU.\nPrice (of a day): 1 request.\n")
	want := map[string]dynamotest.Price{"": {Requests: 2, WCU: 2}, "ReadFirst": {Requests: 1, RCU: 0.5}}
	if !maps.Equal(got, want) {
		t.Errorf("ParseAll = %v, want %v", got, want)
	}
}
