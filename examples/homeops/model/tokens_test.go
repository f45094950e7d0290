package model_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/model"
)

// What a question may use is taken before it is asked, and is then what it used. A
// request that may have been paid although no reply says so is taken whole.
func TestWhatAQuestionTakes(t *testing.T) {
	t.Parallel()
	const dial, without, lies = 1000, 1001, 1002
	for name, tc := range map[string]struct {
		replies []int // as reply has them, or one of the above
		unknown int64 // requests that are taken whole
		used    int64
	}{
		"answered":                   {[]int{200}, 0, 366},
		"refused":                    {[]int{400}, 0, 0},
		"failing":                    {[]int{500, 503}, 0, 0},
		"lost by a gateway":          {[]int{504, 502}, 2, 0},
		"answered the second time":   {[]int{500, 200}, 0, 366},
		"not reached":                {[]int{dial, dial}, 0, 0},
		"cut, then answered":         {[]int{0, 200}, 1, 366},
		"never answered":             {[]int{-1, -1}, 2, 0},
		"cut off in the body":        {[]int{-2, 200}, 1, 366},
		"no count in the reply":      {[]int{without}, 1, 0},
		"more than a question takes": {[]int{lies}, 0, 1<<20 + 45},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var b *bench
				var most int64
				n := 0
				b = openAt(t, "http://api/v1", transport(func(r *http.Request) (*http.Response, error) {
					most = r.ContentLength + 1000
					if held, events := tokensIn(b.db, "limits"); held != 2*most || events != 1 {
						t.Errorf("held %d by %d, not %d", held, events, 2*most)
					}
					n++
					other := completion(deeds())
					switch status := tc.replies[n-1]; status {
					case dial:
						return nil, &net.OpError{Op: "dial", Err: errNetwork}
					case without:
						delete(other, "usage")
					case lies:
						other["usage"].(object)["prompt_tokens"] = 2_000_000
					default:
						return reply(r, status, "")
					}
					return (&api{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { write(w, other) }}).RoundTrip(r)
				}))
				b.asks(t, diskat)
				if taken, events := tokensIn(b.db, "limits"); taken != tc.unknown*most+tc.used || events != 1 || n != len(tc.replies) {
					t.Errorf("taken %d by %d events and %d requests, not %d", taken, events, n, tc.unknown*most+tc.used)
				}
				if tc.replies[0] == lies { // above the day's tokens
					fellBack(t, "the next", b.asks(t, diskat), 0)
				}
			})
		})
	}
}

// Two processes ask at once, and no more than the day has room for. The vocabulary
// classifies the others; a refusal is one request.
func TestTheDaysTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		a := &api{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { <-let; write(w, completion(deeds())) }}
		b := openAt(t, "http://api/v1", a)
		var done sync.WaitGroup
		ask := func(n int, c *model.Classifier) {
			done.Go(func() {
				m := classify.Message{Event: eventAt(t, noon.Add(-time.Duration(n)*time.Minute)), Scope: "-5", Text: diskat}
				if got, err := c.Classify(t.Context(), m); err != nil || got.Usage.FellBack != (len(got.Done) > 0) {
					t.Errorf("%+v, %v", got, err)
				}
			})
		}
		ask(1, b.Classifier)
		synctest.Wait()
		hold, _ := tokensIn(b.db, "limits")
		var both [2]*model.Classifier
		for i := range both {
			cfg := b.Config
			cfg.TokensADay = 4*hold - 1
			var err error
			if both[i], err = model.New(cfg); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 20 {
			ask(2+n, both[n%2])
		}
		synctest.Wait()
		if taken, events := tokensIn(b.db, "limits"); taken != 3*hold || events != 3 || a.asked() != 3 {
			t.Errorf("taken %d of %d by %d, asked %d", taken, 4*hold-1, events, a.asked())
		}
		b.db.Meter(func() { ask(30, both[0]); synctest.Wait() }).Want(t, dynamotest.Price{Requests: 1, WCU: 1})
		close(let)
		done.Wait()
		if taken, _ := tokensIn(b.db, "limits"); taken != 3*366 || strings.Count(b.log.String(), "not enough tokens are left") != 19 {
			t.Errorf("taken %d\n%s", taken, b.log.String())
		}
	})
}

// A process that dies while the model thinks leaves its hold. The question takes its
// tokens anew when it is asked again, also if it has another length by then, up to ten
// times in all.
func TestWhatADeadProcessHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		status := -1
		b := openAt(t, "http://api/v1", transport(func(r *http.Request) (*http.Response, error) { return reply(r, status, "") }))
		m := classify.Message{Event: eventAt(t, noon), Text: diskat}
		ctx, die := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, die)
		if _, err := b.Classify(ctx, m); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		hold, _ := tokensIn(b.db, "limits")
		status = 200
		for n := 2; n <= 11; n++ {
			if n == 3 {
				m.Text += " idag"
			}
			got, err := b.Classify(t.Context(), m)
			taken, events := tokensIn(b.db, "limits")
			asked := int64(min(n, 10) - 1)
			if err != nil || got.Usage.FellBack != (n == 11) || hold == 0 || taken != hold+asked*366 || events != asked+1 {
				t.Errorf("%d: %+v, %v: taken %d by %d\n%s", n, got.Usage, err, taken, events, b.log.String())
			}
		}
	})
}

// Without an answer of the database nothing is asked. If what was left cannot be given
// back, the answer counts.
func TestTheTokensCannotBeCounted(t *testing.T) {
	t.Parallel()
	a := writes(deeds())
	b := open(t, a)
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Times: -1})
	if _, err := b.Classify(t.Context(), classify.Message{Event: eventAt(t, noon), Text: diskat}); err == nil || a.asked() != 0 {
		t.Errorf("%v, asked %d", err, a.asked())
	}
	b.db.Heal()
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Nth: 2, Times: -1})
	got := b.asks(t, diskat)
	b.db.Heal()
	if taken, _ := tokensIn(b.db, "limits"); got.Usage.FellBack || got.Usage.In != 321 || taken < 2000 {
		t.Errorf("%+v, taken %d", got, taken)
	}
}

// What the counter cannot take is not asked: a message that is too old for it, and
// those of a day that has had too many.
func TestNoRoomToCount(t *testing.T) {
	t.Parallel()
	a := writes(deeds())
	b := open(t, a)
	old, err := b.Classify(t.Context(), classify.Message{Event: eventAt(t, noon.AddDate(0, 0, -20)), Text: diskat})
	if err != nil {
		t.Error(err)
	}
	fellBack(t, "too old", old, 0)
	cfg := b.Config
	cfg.Limits = limitsOn(t, dynamotest.New(t, nil), 1)
	if b.Classifier, err = model.New(cfg); err != nil {
		t.Fatal(err)
	}
	if b.asks(t, diskat).Usage.FellBack {
		t.Error("the first is not asked")
	}
	fellBack(t, "full", b.asks(t, diskat), 0)
	if a.asked() != 1 {
		t.Errorf("asked %d", a.asked())
	}
}
