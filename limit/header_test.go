package limit_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/limit"
)

func TestSetHeader(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	a := limit.Take{Key: tenant, Limits: []limit.Limit{
		{Name: "rpm", N: 100, Per: time.Minute, Burst: 2, Weight: 1},
		{Name: "burst", N: 2, Per: 500 * time.Millisecond, Burst: 9, Weight: 5},
	}}
	header := func(g limit.Grant) http.Header { h := http.Header{}; g.SetHeader(h); return h }
	policy := []string{`"burst";q=2, "rpm";q=100;w=60`}
	for i, want := range []http.Header{
		{"Ratelimit-Policy": policy, "Ratelimit": {`"burst";r=4;t=1, "rpm";r=1`}},
		{"Ratelimit-Policy": policy, "Ratelimit": {`"burst";r=4;t=1, "rpm";r=1`}, "Retry-After": {"1"}},
	} {
		if diff := cmp.Diff(want, header(take(t, e.Store, a))); diff != "" {
			t.Errorf("%d: (-want +got)\n%s", i, diff)
		}
	}
	if h := header(limit.Grant{}); len(h) > 0 {
		t.Errorf("of an error: %v", h)
	}
}
