package httpkey_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledger/httpkey"
)

// afterTheLease is longer than a lease and the skew budget.
const afterTheLease = 2 * time.Minute

// sdkTries is how often the SDK sends a request.
const sdkTries = 3

// Whichever request is lost, or its reply, and wherever the server dies: one answer, the
// same to the byte in every reply. What is added takes effect with it, once; if a write is
// refused, the handler decides again.
func TestOneAnswer(t *testing.T) {
	t.Parallel()
	for i := range 16 {
		fault, dies := dynamotest.Fault{Do: dynamotest.LoseRequest, Nth: 1 + i&1}, i&4 != 0
		if i&2 != 0 {
			fault.Do = dynamotest.LoseReply
		}
		synctest.Test(t, func(t *testing.T) { oneAnswer(t, fault, dies, i&8 != 0) })
	}
}

func oneAnswer(t *testing.T, fault dynamotest.Fault, dies, adds bool) {
	s := open(t, &httpkey.Config{Headers: []string{"link"}}, nil)
	s.adds = adds
	s.db.Inject(fault)
	if dies {
		s.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Nth: fault.Nth + 1, Times: -1})
	}
	var got [3]answer
	for i := range got {
		got[i], _ = s.try(t)
		s.db.Heal()
		time.Sleep(afterTheLease)
	}
	if runs := s.runs.Load(); runs != 1 && !dies {
		t.Errorf("%d runs", runs)
	}
	if adds {
		s.sold(t, 1, 1)
		s.want(t, http.StatusCreated, s.runs.Load()+2, key("k-2"))
		s.sold(t, 2, 1)
	}
	if dies {
		if got[0].Status != http.StatusServiceUnavailable {
			t.Errorf("answered %d", got[0].Status)
		}
		got[0] = got[1]
	}
	want := answer{http.StatusCreated, http.Header{
		"Content-Length": {"12"}, "Content-Type": {"text/plain; charset=utf-8"}, "Link": {"</a>", "</b>"}, "Location": got[2].Header["Location"],
	}, "\xff<sold> lamp"}
	for i, a := range got {
		a.Header = a.Header.Clone()
		if a.replayed() == (a.Header.Get("Set-Cookie") != "") || i == 2 && !a.replayed() {
			t.Errorf("answer %d: %v", i, a.Header)
		}
		a.Header.Del("Set-Cookie")
		a.Header.Del("Idempotent-Replayed")
		if diff := cmp.Diff(want, a); diff != "" {
			t.Errorf("answers differ:\n%s", diff)
		}
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
		_, err := s.try(t, func(r *http.Request) { r.ContentLength++ })
		if synctest.Wait(); err == nil || len(s.db.Items("answers")) != 0 {
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

// While a request is in progress, another waits for its answer, for a second, and then is
// told to come again, as often as it takes. The client of the first may hang up.
func TestInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, nil, func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(21500 * time.Millisecond):
				_, _ = w.Write([]byte("done"))
			case <-r.Context().Done():
			}
		})
		hasty, hangUp := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, hangUp)
		go func() {
			if _, err := s.try(t, func(r *http.Request) { *r = *r.WithContext(hasty) }); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}()
		began := time.Now()
		for time.Since(began) < 19*time.Second {
			synctest.Wait()
			asked := time.Now()
			a := s.want(t, http.StatusConflict, 1)
			if took := time.Since(asked); a.Header.Get("Retry-After") != "2" || took.Round(time.Second) != time.Second {
				t.Errorf("after %v: %v", took, a.Header)
			}
			time.Sleep(2 * time.Second)
		}
		if a := s.want(t, http.StatusOK, 1); !a.replayed() || a.Body != "done" {
			t.Errorf("the answer of the first is not kept: %+v", a)
		}
	})
}

// How the handler ends decides what six requests are answered, how often it runs, and
// whether what it added is written. An answer of the moment is sent and not stored, and
// only a 5xx counts as an attempt; so do a panic, which ends the connection, and a handler
// that does not answer. There is no streaming, because what was sent cannot be stored.
func TestEndings(t *testing.T) {
	t.Parallel()
	not404 := func(status int) bool { return status != http.StatusNotFound }
	type ending struct {
		first, then int // statuses; 0 if the connection ends
		runs, sold  int64
		keep        func(int) bool
		handler     http.HandlerFunc // otherwise it answers first
	}
	hangs := func(after time.Duration) http.HandlerFunc { // its context's end
		return func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			time.Sleep(after)
			if _, err := w.Write([]byte("at last")); (err != nil) != (after > 5*time.Second) {
				t.Errorf("after %v: %v", after, err)
			}
		}
	}
	endings := []ending{
		{503, 500, 5, 0, nil, nil},
		{404, 404, 6, 0, not404, nil},
		{500, 500, 1, 1, not404, nil},
		{204, 204, 1, 1, nil, func(w http.ResponseWriter, _ *http.Request) {
			control := http.NewResponseController(w)
			_, _, hijack := control.Hijack()
			w.WriteHeader(http.StatusNoContent)
			_, write := w.Write([]byte("x"))
			if flush := control.Flush(); !errors.Is(flush, http.ErrNotSupported) || !errors.Is(hijack, http.ErrNotSupported) || !errors.Is(write, http.ErrBodyNotAllowed) {
				t.Errorf("%v, %v, %v", flush, hijack, write)
			}
		}},
		{200, 200, 1, 1, nil, hangs(0)},
		{200, 200, 1, 1, nil, hangs(4 * time.Second)},
		{503, 500, 5, 0, nil, hangs(time.Hour)},
		{500, 500, 1, 0, nil, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 13<<10)) }}, // too large
		{0, 500, 5, 0, nil, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{0, 500, 5, 0, nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK); panic("ann") }},
		{0, 500, 5, 0, nil, func(http.ResponseWriter, *http.Request) { runtime.Goexit() }},
		{0, 500, 5, 0, nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(0) }},
		{0, 500, 5, 0, nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(1000) }},
	}
	for _, status := range []int{401, 408, 425, 429} {
		endings = append(endings, ending{status, status, 6, 0, nil, nil})
	}
	for _, status := range []int{200, 302, 400, 402, 404, 409, 422} {
		endings = append(endings, ending{status, status, 1, 1, nil, nil})
	}
	for i, end := range endings {
		synctest.Test(t, func(t *testing.T) {
			var kept context.Context
			s := open(t, &httpkey.Config{Keep: end.keep, Timeout: 10 * time.Second}, func(w http.ResponseWriter, r *http.Request) {
				kept = r.Context()
				if err := httpkey.Add(r.Context(), piece("lamp", 100)); err != nil {
					t.Error(err)
				}
				if end.handler != nil {
					end.handler(w, r)
					return
				}
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(http.StatusEarlyHints)
				w.WriteHeader(end.first)
				w.WriteHeader(http.StatusTeapot)
				_, _ = w.Write([]byte("own"))
			})
			for n := range int64(6) {
				began := time.Now()
				a, _ := s.try(t)
				if took := time.Since(began); took > 16*time.Second {
					t.Errorf("%d: after %v", i, took)
				}
				now, want := n < end.runs, end.then
				if now {
					want = end.first
				}
				if a.Status != want || s.runs.Load() != min(n+1, end.runs) || a.replayed() != (!now && end.sold == 1) ||
					end.handler == nil && ((a.Body == "own") != (now || end.sold == 1) || (a.Header.Get("Retry-After") == "7") != now) {
					t.Errorf("%d: request %d after %d runs: %+v", i, n, s.runs.Load(), a)
				}
			}
			s.sold(t, end.sold, 0)
			recordtest.WantBad(t, httpkey.Add(kept, piece("lamp", 1)), "httpkey", "ctx", "after the answer")
			r, _, err := s.answers.Get(t.Context(), rowOf("k-1"))
			if err != nil || end.first == 0 && r.LastError != "httpkey: the handler panicked" {
				t.Errorf("%+v, %v", r, err)
			}
			s.client.CloseIdleConnections()
			time.Sleep(2 * time.Hour) // what hangs ends
		})
	}
}

// An answer that is not stored gives the attempt back, also if DynamoDB does not hear that
// the key is given up, or its replies are lost, however often the SDK asks. If it hears
// nothing more, the key is free when the lease is over, and the attempt counts.
func TestTheAttemptIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]dynamotest.Fault{
		"request lost": {Do: dynamotest.LoseRequest, Nth: 2, Times: sdkTries},
		"reply lost":   {Do: dynamotest.LoseReply, Nth: 2, Times: sdkTries},
		"all are lost": {Do: dynamotest.LoseRequest, Nth: 2, Times: -1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
			counts := fault.Times < 0
			for n := range int64(5) {
				s.db.Inject(fault)
				s.want(t, http.StatusTooManyRequests, n+1)
				s.db.Heal()
				if counts {
					s.want(t, http.StatusConflict, n+1)
					time.Sleep(afterTheLease)
				}
			}
			status, runs := http.StatusTooManyRequests, int64(6)
			if counts {
				status, runs = http.StatusInternalServerError, 5
			}
			if s.want(t, status, runs); t.Failed() {
				t.Log(name)
			}
		})
	}
}

// The Content-Length is that of the body, whatever the handler says, in the first answer
// and in a replay.
func TestContentLength(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "x", "lamps and shades"} {
		for _, status := range []int{http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusNotModified, http.StatusTooManyRequests} {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, nil, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Length", "5")
					w.WriteHeader(status)
					_, _ = w.Write([]byte(body))
				})
				sent, length := body, []string{strconv.Itoa(len(body))}
				if status == http.StatusNoContent || status == http.StatusNotModified {
					sent, length = "", nil
				}
				for n := range int64(2) {
					runs := int64(1)
					if status == http.StatusTooManyRequests {
						runs += n
					}
					if a := s.want(t, status, runs); a.Body != sent || !slices.Equal(a.Header["Content-Length"], length) {
						t.Errorf("answer %d to %d with %q: %+v", n, status, body, a)
					}
				}
			})
		}
	}
}

// When the lease is lost, the context ends, and the answer is neither stored nor sent.
func TestTheLeaseIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 2)
		s := open(t, &httpkey.Config{Timeout: 5 * time.Minute}, func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			causes <- context.Cause(r.Context())
		})
		s.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Nth: 2, Times: -1})
		s.want(t, http.StatusServiceUnavailable, 1)
		s.db.Heal()
		time.Sleep(afterTheLease)
		s.want(t, http.StatusOK, 2)
		if lost, late := <-causes, <-causes; !errors.Is(lost, ledger.ErrLeaseLost) || !errors.Is(late, context.DeadlineExceeded) {
			t.Errorf("%v, %v", lost, late)
		}
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
		if _, err := ledger.Do(t.Context(), s.answers, ledger.Request{Key: rowOf("foreign"), Payload: []byte("POST /orders?n=1\nlamp")}, func(context.Context, *ledger.Claim) (string, error) {
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
		if err := s.answers.Erase(t.Context(), rowOf("k-1")); err != nil {
			t.Fatal(err)
		}
		s.want(t, http.StatusGone, 2)
	})
}

// rowOf is the ledger key of Ann's request, which does not show what she chose.
func rowOf(key string) string { return fmt.Sprintf("ann:HTTP:%x", sha256.Sum256([]byte(key))) }

func TestNew(t *testing.T) {
	t.Parallel()
	answers, err := ledger.New(recordtest.Silent(t), "answers", nil)
	if err != nil {
		t.Fatal(err)
	}
	ann := func(*http.Request) string { return "ann" }
	_, err = httpkey.New(nil, ann, nil)
	recordtest.WantBad(t, err, "httpkey", "answers")
	_, err = httpkey.New(answers, nil, nil)
	recordtest.WantBad(t, err, "httpkey", "caller")
	_, err = httpkey.New(answers, ann, &httpkey.Config{Timeout: -1})
	recordtest.WantBad(t, err, "httpkey", "Config.Timeout")
	for _, name := range []string{"set-cookie", "Date", "connection", "content-length", "", "\xff", "a b"} {
		_, err = httpkey.New(answers, ann, &httpkey.Config{Headers: []string{"X", name}})
		recordtest.WantBad(t, err, "httpkey", "Config.Headers[1]", name)
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	s := open(t, nil, nil)
	post := func(key string, readFirst bool, items ...types.TransactWriteItem) func(context.Context) error {
		keys, err := httpkey.New(s.answers, func(*http.Request) string { return "ann" }, &httpkey.Config{ReadFirst: readFirst})
		add := func(_ http.ResponseWriter, r *http.Request) {
			err = errors.Join(err, httpkey.Add(r.Context(), items...))
		}
		return func(ctx context.Context) error {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/orders", nil)
			r.Header.Set("Idempotency-Key", key)
			keys.Handler(http.HandlerFunc(add)).ServeHTTP(httptest.NewRecorder(), r)
			return err
		}
	}
	free := func(ctx context.Context) error {
		if _, ok := httpkey.FromContext(ctx); ok || httpkey.Add(ctx) == nil {
			t.Error("there is no key")
		}
		return nil
	}
	pricetest.Run(t, s.db, []pricetest.Case{
		{Func: "Keys.Handler", Call: post("k-1", false)},
		{Func: "Keys.Handler", In: "ReadFirst", Call: post("k-1", true)},
		{Func: "Keys.Handler", In: "Add", Call: post("k-2", false, piece("lamp", 1))},
		{Func: "Add", Call: free},
		{Func: "FromContext", Call: free},
	})
}

// A replay has the stored headers of the first answer, byte for byte. Those that are
// not stored reach the first client as they are.
func TestHeaderBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, &httpkey.Config{Headers: []string{"Content-Disposition"}}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=\"k\xf6p.txt\"")
			w.Header().Set("Location", "/\xf6")
			w.Header().Set("Server-Timing", "k\xf6")
			w.WriteHeader(201)
		})
		a, b := s.want(t, 201, 1), s.want(t, 201, 1)
		for _, name := range []string{"Content-Disposition", "Location"} {
			if a.Header.Get(name) != b.Header.Get(name) {
				t.Errorf("%s: first %q, replayed %q", name, a.Header.Get(name), b.Header.Get(name))
			}
		}
		if got := a.Header.Get("Server-Timing"); got != "k\xf6" {
			t.Errorf("a header that is not stored became %q", got)
		}
	})
}

// A header is stored however its name is written.
func TestHeaderCase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["ETag"] = []string{`"1"`}
			w.WriteHeader(201)
		})
		a, b := s.want(t, 201, 1), s.want(t, 201, 1)
		if a.Header.Get("Etag") != b.Header.Get("Etag") {
			t.Errorf("first %q, replayed %q", a.Header.Get("Etag"), b.Header.Get("Etag"))
		}
	})
}
