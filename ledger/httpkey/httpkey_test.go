package httpkey_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledger/httpkey"
)

// afterTheLease is longer than a lease and the skew budget.
const afterTheLease = 2 * time.Minute

// Whichever request is lost, or its reply, and wherever the server dies: one answer, the
// same to the byte in every reply.
func TestOneAnswer(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 2; nth++ {
		for name, do := range map[string]dynamotest.Effect{"request": dynamotest.LoseRequest, "reply": dynamotest.LoseReply} {
			for _, dies := range []bool{false, true} {
				t.Run(fmt.Sprint(name, nth, dies), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { oneAnswer(t, dynamotest.Fault{Do: do, Nth: nth}, dies) })
				})
			}
		}
	}
}

func oneAnswer(t *testing.T, fault dynamotest.Fault, dies bool) {
	s := open(t, &httpkey.Config{Headers: []string{"link"}}, nil)
	s.db.Inject(fault)
	status, replayed := http.StatusCreated, 2 // answers
	if dies {
		s.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Nth: fault.Nth + 1, Times: -1})
		status = http.StatusServiceUnavailable
	}
	got := []answer{s.post(t)}
	if got[0].Status != status {
		t.Errorf("answered %d", got[0].Status)
	}
	s.db.Heal()
	time.Sleep(afterTheLease)
	got = append(got, s.post(t), s.post(t))
	if dies {
		got = got[1:]
		replayed = 1 // or both
	}
	for i, a := range got {
		if !a.replayed() && (i >= len(got)-replayed || a.Header.Get("Set-Cookie") == "") {
			t.Errorf("answer %d: %v", i, a.Header)
		}
		if !a.replayed() {
			a.Header.Del("Set-Cookie")
		}
		a.Header.Del("Idempotent-Replayed")
		want := answer{http.StatusCreated, http.Header{
			"Content-Length": {"12"}, "Content-Type": {"text/plain; charset=utf-8"}, "Link": {"</a>", "</b>"}, "Location": got[0].Header["Location"],
		}, "\xff<sold> lamp"}
		if diff := cmp.Diff(want, a); diff != "" {
			t.Errorf("answers differ:\n%s", diff)
		}
	}
	if runs := s.runs.Load(); runs != 1 && !dies {
		t.Errorf("%d runs", runs)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	customer := func(id string) func(*http.Request) { return func(r *http.Request) { r.Header.Set("Customer", id) } }
	get := func(r *http.Request) { r.Method = http.MethodGet }
	synctest.Test(t, func(t *testing.T) {
		s := open(t, nil, nil)
		for _, bad := range []string{"", " ", `""`, `"k`, `"k"x`, `"k";a=1`, `"\k"`, "k,l", "k l", `k"`, `"ö"`, strings.Repeat("k", 256), `"` + strings.Repeat("k", 256) + `"`} {
			a := s.want(t, http.StatusBadRequest, 0, key(bad))
			var p struct{ Status int }
			if err := json.Unmarshal([]byte(a.Body), &p); err != nil || p.Status != a.Status || a.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%q: %v: %v %s", bad, err, a.Header, a.Body)
			}
		}
		if _, err := s.try(t, func(r *http.Request) { r.ContentLength++ }); err == nil || len(s.db.Items("answers")) != 0 {
			t.Errorf("a body that is sent half: %v", err)
		}
		for _, step := range []struct {
			what   string
			change func(*http.Request)
			status int
			runs   int64
		}{
			{"no key", func(r *http.Request) { r.Header.Del("Idempotency-Key") }, 400, 0},
			{"two keys", func(r *http.Request) { r.Header.Add("Idempotency-Key", "k-2") }, 400, 0},
			{"nobody", customer(""), 401, 0},
			{"too large", text(strings.Repeat("x", 1<<20+1)), 413, 0},
			{"the caller is too long", customer(strings.Repeat("x", 2100)), 500, 0},
			{"the first", key(`"k-1"`), 201, 1},
			{"bare", key("k-1"), 201, 1},
			{"another body", text("lamps"), 422, 1},
			{"another route", func(r *http.Request) { r.URL.Path = "/refunds" }, 422, 1},
			{"another query", func(r *http.Request) { r.URL.RawQuery = "n=2" }, 422, 1},
			{"another method", func(r *http.Request) { r.Method = http.MethodPatch }, 422, 1},
			{"another caller", customer("bo"), 201, 2},
			{"another key", key(`"k-2"`), 201, 3},
			{"a long key", key(strings.Repeat("k", 255)), 201, 4},
			{"a caller like a part of keys", customer("HTTP"), 201, 5},
			{"a caller with a colon", customer("a:HTTP"), 201, 6},
			{"the same text, divided otherwise", func(r *http.Request) { customer("a")(r); key("HTTP:k-1")(r) }, 201, 7},
			{"a GET", get, 201, 8},
			{"again", get, 201, 9},
		} {
			t.Log(step.what)
			s.want(t, step.status, step.runs, step.change)
		}
		time.Sleep(time.Second) // the connection of the body that was refused lingers
	})
}

// Two requests at once: the second waits for the answer of the first, for a second, and
// then is told to come again. The client of the first may hang up.
func TestInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		takes := 500 * time.Millisecond
		s := open(t, nil, func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(takes):
				_, _ = w.Write([]byte("done"))
			case <-r.Context().Done():
			}
		})
		both := make(chan answer, 2)
		for range cap(both) {
			go func() { both <- s.post(t) }()
		}
		one, two := <-both, <-both
		if one.Body != "done" || two.Body != "done" || one.replayed() == two.replayed() || s.runs.Load() != 1 {
			t.Errorf("%v, %v, %d runs", one, two, s.runs.Load())
		}

		takes = 20 * time.Second
		second := key("k-2")
		hasty, hangUp := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := s.try(t, second, func(r *http.Request) { *r = *r.WithContext(hasty) })
			ended <- err
		}()
		synctest.Wait()
		began := time.Now()
		a := s.want(t, http.StatusConflict, 2, second)
		if a.Header.Get("Retry-After") != "2" || time.Since(began) < time.Second {
			t.Errorf("after %v: %v", time.Since(began), a.Header)
		}
		hangUp()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.Sleep(takes)
		if a = s.want(t, http.StatusOK, 2, second); !a.replayed() || a.Body != "done" {
			t.Error("the answer of the first is not kept")
		}
	})
}

// An answer of the moment is sent and not stored. Only a 5xx counts as an attempt.
func TestAnswersThatAreNotStored(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 408, 425, 429, 500, 503, 599} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, nil, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(status)
				_, _ = w.Write([]byte("later"))
			})
			for n := range int64(5) {
				s.db.Meter(func() {
					if a := s.want(t, status, n+1); a.Body != "later" || a.Header.Get("Retry-After") != "7" || a.replayed() {
						t.Error(a)
					}
				}).Want(t, dynamotest.Price{Requests: 2, WCU: 2})
			}
			if status >= 500 {
				s.want(t, http.StatusInternalServerError, 5)
			} else {
				s.want(t, status, 6)
			}
		})
	}
	for status, runs := range map[int]int64{200: 1, 302: 1, 400: 1, 402: 1, 409: 1, 422: 1, 404: 2, 500: 1} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, &httpkey.Config{Keep: func(status int) bool { return status != http.StatusNotFound }}, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusEarlyHints)
				w.WriteHeader(status)
				w.WriteHeader(http.StatusTeapot)
			})
			s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			s.want(t, status, 1)
			s.want(t, status, runs)
		})
	}
}

// A handler that heeds its context answers. One that hangs is given up, and what it does
// later is lost.
func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangs := time.Duration(0)
		s := open(t, &httpkey.Config{Timeout: 10 * time.Second}, func(w http.ResponseWriter, r *http.Request) {
			hangs := hangs
			<-r.Context().Done()
			time.Sleep(hangs)
			_, err := w.Write([]byte("at last"))
			added := httpkey.Add(r.Context())
			if (err != nil) != (hangs > 5*time.Second) || (added != nil) != (err != nil) {
				t.Errorf("after %v: %v, %v", hangs, err, added)
			}
		})
		for _, want := range []struct {
			hangs, took time.Duration
			status      int
		}{{0, 10 * time.Second, 200}, {4 * time.Second, 14 * time.Second, 200}, {time.Hour, 15 * time.Second, 503}} {
			hangs = want.hangs
			began := time.Now()
			a := s.post(t, key(want.hangs.String()))
			if took := time.Since(began); a.Status != want.status || took.Round(time.Second) != want.took {
				t.Errorf("%d after %v, want %d after %v", a.Status, took, want.status, want.took)
			}
		}
		hangs = 0
		s.want(t, http.StatusOK, 4, key(time.Hour.String()))
		s.client.CloseIdleConnections()
		time.Sleep(2 * time.Hour)
	})
}

// A panic ends the connection, as it does without a key, and counts as an attempt.
func TestPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ends := []func(http.ResponseWriter){
			func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
			func(http.ResponseWriter) { runtime.Goexit() },
			func(w http.ResponseWriter) { w.WriteHeader(0) },
			func(w http.ResponseWriter) { w.WriteHeader(1000) },
			func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK); panic(http.ErrAbortHandler) },
		}
		var s *shop
		s = open(t, nil, func(w http.ResponseWriter, _ *http.Request) { ends[s.runs.Load()-1](w) })
		for range ends {
			if _, err := s.try(t); err == nil {
				t.Error("it answers")
			}
		}
		s.want(t, http.StatusInternalServerError, 5)
		r, _, err := s.answers.Get(t.Context(), "ann:HTTP:k-1")
		if err != nil || r.State != ledger.Failed || r.LastError != "httpkey: the handler panicked" || r.Attempts != 5 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// What was sent cannot be stored, so there is no streaming.
func TestStreaming(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, nil, func(w http.ResponseWriter, _ *http.Request) {
			control := http.NewResponseController(w)
			_, _, err := control.Hijack()
			if flush := control.Flush(); !errors.Is(flush, http.ErrNotSupported) || !errors.Is(err, http.ErrNotSupported) {
				t.Errorf("%v, %v", flush, err)
			}
			w.WriteHeader(http.StatusNoContent)
			if _, err := w.Write([]byte("x")); !errors.Is(err, http.ErrBodyNotAllowed) {
				t.Error(err)
			}
		})
		s.want(t, http.StatusNoContent, 1)
		s.want(t, http.StatusNoContent, 1)
	})
}

// Trouble with DynamoDB: come again. What is not stored, or cannot be read: never again.
func TestTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, nil, nil)
		s.db.Inject(dynamotest.Fault{Do: dynamotest.InternalError, Times: -1})
		if a := s.want(t, http.StatusServiceUnavailable, 0); a.Header.Get("Retry-After") != "2" {
			t.Error(a.Header)
		}
		s.db.Heal()
		if _, err := ledger.Do(t.Context(), s.answers, ledger.Request{Key: "ann:HTTP:foreign", Payload: []byte("POST /orders?n=1\nlamp")}, func(context.Context, *ledger.Claim) (string, error) {
			return "a result of another program", nil
		}); err != nil {
			t.Fatal(err)
		}
		s.want(t, http.StatusInternalServerError, 0, key("foreign"))
		large := text(strings.Repeat("x", 13<<10))
		s.want(t, http.StatusCreated, 1, key("large"), large)
		if a := s.want(t, http.StatusInternalServerError, 1, key("large"), large); !strings.Contains(a.Body, "too large") {
			t.Error(a.Body)
		}
		s.want(t, http.StatusCreated, 2)
		if err := s.answers.Erase(t.Context(), "ann:HTTP:k-1"); err != nil {
			t.Fatal(err)
		}
		s.want(t, http.StatusInternalServerError, 2)
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	answers, err := ledger.New(recordtest.Silent(t), "answers", nil)
	if err != nil {
		t.Fatal(err)
	}
	ann := func(*http.Request) string { return "ann" }
	for _, bad := range []struct {
		answers *ledger.Store
		caller  func(*http.Request) string
		cfg     httpkey.Config
		field   string
	}{
		{nil, ann, httpkey.Config{}, "answers"},
		{answers, nil, httpkey.Config{}, "caller"},
		{answers, ann, httpkey.Config{Timeout: -1}, "Config.Timeout"},
	} {
		_, err = httpkey.New(bad.answers, bad.caller, &bad.cfg)
		recordtest.WantBad(t, err, "httpkey", bad.field)
	}
	for _, name := range []string{"set-cookie", "Date", "connection", "content-length", "", "\xff", "a b"} {
		_, err = httpkey.New(answers, ann, &httpkey.Config{Headers: []string{"X", name}})
		recordtest.WantBad(t, err, "httpkey", "Config.Headers[1]", name)
	}
}
