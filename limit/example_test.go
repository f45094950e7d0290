package limit_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/limit"
	"github.com/homeops/ddbpatterns/schema"
)

// exampleLimits are on a clock that stands still.
func exampleLimits(ctx context.Context) *limit.Store {
	db := dynamotest.NewServer(nil).Client()
	limits, err := limit.New(db, "app", &limit.Config{Now: func() time.Time { return noon }, Timeout: time.Minute})
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, limits.Table()); err != nil {
		panic(err)
	}
	return limits
}

var perTenant = []limit.Limit{{Name: "rps", N: 10, Per: time.Second, Burst: 2, Weight: 1}}

// limited answers 429 to a tenant above its limit. If the table cannot be asked, it is
// open: it lets the request through. The line in the comment makes it closed.
func limited(limits *limit.Store, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		grant, err := limits.Take(r.Context(), limit.Take{Key: r.Header.Get("Tenant"), Limits: perTenant})
		// if err != nil { http.Error(w, "try again", http.StatusServiceUnavailable); return }
		if grant.SetHeader(w.Header()); err == nil && !grant.OK {
			http.Error(w, "too many requests", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// A handler that answers 429.
func Example() {
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	handler := limited(exampleLimits(context.Background()), hello)
	for range 3 {
		r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		r.Header.Set("Tenant", "acme")
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("RateLimit"), strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 "rps";r=1 hello
	// 200 "rps";r=0;t=1 hello
	// 429 "rps";r=0;t=1 too many requests
}

func ExampleNew() {
	ctx := context.Background()
	limits := exampleLimits(ctx)
	grant, err := limits.Take(ctx, limit.Take{Key: "acme", Limits: perTenant})
	fmt.Println(grant.OK, grant.Remaining, err)

	_, err = limit.New(nil, "app", nil)
	fmt.Println(err)
	// Output:
	// true [1] <nil>
	// limit: api must not be nil
}

// Requests and tokens a minute together. The tokens are estimated, and settled when the
// answer has come.
func ExampleStore_Settle() {
	ctx := context.Background()
	limits := exampleLimits(ctx)
	estimated := func(tokens int64) limit.Take {
		return limit.Take{Key: "acme", Limits: []limit.Limit{
			{Name: "rpm", N: 100, Per: time.Minute, Burst: 20, Weight: 1},
			{Name: "tpm", N: 10_000, Per: time.Minute, Burst: 10_000, Weight: tokens},
		}}
	}
	grant, err := limits.Take(ctx, estimated(8_000))
	fmt.Println(grant.OK, grant.Remaining, err)
	next, err := limits.Take(ctx, estimated(4_000))
	fmt.Println(next.OK, next.RetryAfter, err)

	outcome, err := limits.Settle(ctx, grant.Take, map[string]int64{"tpm": 812})
	fmt.Println(outcome, err)
	next, err = limits.Take(ctx, estimated(4_000))
	fmt.Println(next.OK, next.Remaining, err)
	// Output:
	// true [19 2000] <nil>
	// false 12s <nil>
	// created <nil>
	// true [18 5188] <nil>
}

// Messages to another system's API wait for their turn: 30 a second, evenly.
func ExampleStore_Take_wait() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	limits := exampleLimits(ctx)
	sends := []limit.Limit{{Name: "sends", N: 30, Per: time.Second, Burst: 1, Weight: 1}}
	grant, err := limits.Take(ctx, limit.Take{Key: "mail", Limits: sends, Wait: 10 * time.Second})
	if err != nil || !grant.OK { // no turn comes within 10 seconds
		return
	}
	fmt.Println("send")
	// Output: send
}
