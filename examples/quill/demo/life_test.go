package demo_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/examples/quill/demo"
)

// counted counts the requests that come through.
type counted int

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	*c++
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// A process ends at its nth request: this request is lost, or done but not
// answered, and no later request comes through.
func TestLife(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		nth      int
		after    bool
		answered int
		through  counted
	}{
		{0, false, 5, 5}, {1, false, 0, 0}, {1, true, 0, 1}, {3, false, 2, 2}, {3, true, 2, 3}, {9, true, 5, 5},
	} {
		life := demo.NewLife(t.Context(), tc.nth, tc.after)
		var through counted
		carrier := demo.Transport{Life: life, Next: demo.Direct{RoundTripper: &through}}
		answered := 0
		for n := 1; n <= 5; n++ {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://power.test", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			if response, err := carrier.RoundTrip(r); err == nil {
				answered++
				response.Body.Close()
			}
			if over := tc.nth > 0 && n >= tc.nth; life.Over() != over || (life.Context().Err() != nil) != over {
				t.Errorf("%+v: over after %d requests: %t", tc, n, life.Over())
			}
		}
		if answered != tc.answered || through != tc.through || life.Sent() != 5 {
			t.Errorf("%+v: %d answered, %d through, %d sent", tc, answered, through, life.Sent())
		}
	}
}
