package model_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/model"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

const diskat = "Jag har diskat"

// asks classifies a text that the vocabulary knows, and checks that the log has
// neither the key nor the text.
func (b *bench) asks(t *testing.T, text string) classify.Result {
	t.Helper()
	b.asked++
	got, err := b.Classify(t.Context(), classify.Message{Event: eventAt(t, noon.Add(time.Duration(b.asked)*time.Second)), Scope: "-5", Text: text})
	if err != nil {
		t.Error(err)
	}
	if log := b.log.String(); strings.Contains(log, key) || strings.Contains(log, "diskat") || strings.Contains(log, "secret") {
		t.Errorf("logged: %.500s", log)
	}
	return got
}

// fellBack checks that a result is the vocabulary's, after so many requests.
func fellBack(t *testing.T, what string, got classify.Result, requests int) {
	t.Helper()
	if told(got) != "diskning chore 1 0.9" || !got.Usage.FellBack || got.Usage.Requests != requests || got.Usage.Model != "small" {
		t.Errorf("%s: %q, %+v", what, told(got), got.Usage)
	}
}

// If a reply is not an answer, the vocabulary classifies, whatever the reply
// contains. Its tokens are counted. It is not asked for twice, and the circuit
// stays closed.
func TestNoAnswerIsTheVocabularys(t *testing.T) {
	t.Parallel()
	good := deeds(deed("tvätt", "diskat", nil))
	but := func(field string, value any) object {
		reply := completion(good)
		reply["choices"].([]object)[0][field] = value
		return reply
	}
	nested := strings.Repeat(`{"deeds":[`, 12000) + strings.Repeat(`]}`, 12000)
	many := slices.Repeat([]object{deed("tvätt", "diskat", nil)}, 10000)
	for name, reply := range map[string]any{
		"refused":              but("message", object{"content": nil, "refusal": "I cannot, secret"}),
		"refused with deeds":   but("message", object{"content": good, "refusal": "no"}),
		"cut off":              but("finish_reason", "length"),
		"cut off in the midst": but("message", object{"content": good[:len(good)/2]}),
		"filtered":             but("finish_reason", "content_filter"),
		"of no known end":      but("finish_reason", nil),
		"no content":           but("message", object{"content": nil}),
		"prose":                but("message", object{"content": "Sure! Here are the deeds: " + good}),
		"fenced":               but("message", object{"content": "```json\n" + good + "\n```"}),
		"more than one":        but("message", object{"content": good + good}),
		"a list":               but("message", object{"content": "[]"}),
		"no deeds":             but("message", object{"content": "{}"}),
		"deeds of null":        but("message", object{"content": `{"deeds":null}`}),
		"deeds of text":        but("message", object{"content": `{"deeds":"diskat"}`}),
		"a number of no size":  but("message", object{"content": `{"deeds":[{"effort":1e999}]}`}),
		"nested":               but("message", object{"content": `{"deeds":[{"deeds":[]}],"deeds":[[[]]]}`}),
		"nested deep":          but("message", object{"content": nested[:50000]}),
		"nine deeds":           but("message", object{"content": deeds(many[:9]...)}),
		"10,000 deeds":         but("message", object{"content": deeds(many...)}),
		"content of parts":     but("message", object{"content": []object{{"type": "text", "text": good}}}),
		"no choice":            object{"choices": []object{}, "usage": object{"prompt_tokens": 5}},
		"an error with 200":    object{"error": object{"message": "secret"}},
		"null":                 nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &api{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { write(w, reply) }}
			b := open(t, a)
			for n := range 7 { // more than open a circuit
				got := b.asks(t, diskat)
				fellBack(t, name, got, 1)
				if strings.HasPrefix(name, "refused") && (got.Usage.In != 321 || got.Usage.Out != 45) || a.asked() != n+1 {
					t.Errorf("%+v, asked %d", got.Usage, a.asked())
				}
			}
		})
	}
}

// The same holds for a body that is not JSON, is of another type, or has no end. A
// redirect is not followed.
func TestOtherBodies(t *testing.T) {
	t.Parallel()
	elsewhere := writes(deeds(deed("tvätt", "diskat", nil)))
	other := open(t, elsewhere)
	for name, answer := range map[string]func(http.ResponseWriter){
		"HTML": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>diskat secret</html>")
		},
		"empty":      func(http.ResponseWriter) {},
		"half":       func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop",`) },
		"no UTF-8":   func(w http.ResponseWriter) { _, _ = w.Write([]byte{0xff, 0xfe, 0, 1}) },
		"no content": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) },
		"elsewhere": func(w http.ResponseWriter) {
			w.Header().Set("Location", other.URL+"/chat/completions")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"no end": func(w http.ResponseWriter) {
			for {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<12)); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, &api{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { answer(w) }})
			fellBack(t, name, b.asks(t, diskat), 1)
		})
	}
	if elsewhere.asked() > 0 {
		t.Error("the text was sent elsewhere")
	}
}

// What a server writes in place of HTTP is not logged: it knows the text and the key.
func TestTheLogHasNothingOfAReply(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"no status":    key + " " + diskat,
		"a status":     "HTTP/1.1 " + key + " " + diskat + "\r\n\r\n",
		"a header":     "HTTP/1.1 200 OK\r\n" + key + " " + diskat + "\r\n\r\n",
		"a length":     "HTTP/1.1 200 OK\r\nContent-Length: " + key + "\r\n\r\n",
		"an encoding":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + key + "\r\n\r\n",
		"a trailer":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n0\r\n" + key + "\r\n\r\n",
		"a megabyte":   "HTTP/1.1 200 OK\r\n" + strings.Repeat("secret", 200_000) + "\r\n\r\n",
		"not a letter": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				wire := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						defer theirs.Close()
						if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
							_, _ = io.WriteString(theirs, reply)
						}
					}()
					return ours, nil
				}}
				b := openAt(t, "http://api/v1", wire)
				fellBack(t, name, b.asks(t, diskat), 2)
				if b.log.Len() > 500 {
					t.Errorf("logged: %d bytes", b.log.Len())
				}
				wire.CloseIdleConnections()
			})
		})
	}
}

// One more try, if it may help and comes within two seconds; then the
// vocabulary.
func TestOneMoreTry(t *testing.T) {
	t.Parallel()
	const good = 200
	for name, tc := range map[string]struct {
		statuses   []int
		retryAfter string
		requests   int
		took       time.Duration
		fine       bool
	}{
		"fine":                    {[]int{good}, "", 1, 0, true},
		"500, then fine":          {[]int{500, good}, "", 2, 500 * time.Millisecond, true},
		"503 twice":               {[]int{503, 503, good}, "", 2, 500 * time.Millisecond, false},
		"429, then fine":          {[]int{429, good}, "2", 2, 2 * time.Second, true},
		"429, at once":            {[]int{429, good}, "0", 2, 0, true},
		"429, too long":           {[]int{429, good}, "3", 1, 0, false},
		"429, until a date":       {[]int{429, good}, "Wed, 18 Feb 2026 11:00:01 GMT", 1, 0, false},
		"429, for longer than is": {[]int{429, good}, "99999999999999999999", 1, 0, false},
		"429, of no sense":        {[]int{429, good}, "-1", 1, 0, false},
		"a wrong key":             {[]int{401, good}, "", 1, 0, false},
		"a wrong question":        {[]int{400, good}, "", 1, 0, false},
		"nothing there":           {[]int{404, good}, "", 1, 0, false},
		"no network, then fine":   {[]int{0, good}, "", 2, 500 * time.Millisecond, true},
		"no network":              {[]int{0, 0, good}, "", 2, 500 * time.Millisecond, false},
		"slow, then fine":         {[]int{-1, good}, "", 2, 6500 * time.Millisecond, true},
		"slow":                    {[]int{-1, -1, good}, "", 2, 12500 * time.Millisecond, false},
		"a slow body":             {[]int{-2, -2, good}, "", 2, 12500 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n, began := 0, time.Now()
				b := openAt(t, "http://api/v1/", transport(func(r *http.Request) (*http.Response, error) {
					n++
					if r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Content-Type") != "application/json" || r.URL.Path != "/v1/chat/completions" {
						t.Errorf("%s %v", r.URL, r.Header)
					}
					return reply(r, tc.statuses[n-1], tc.retryAfter)
				}))
				got := b.asks(t, diskat)
				if took := time.Since(began); took != tc.took || took > worker.PerItem/2 {
					t.Errorf("took %v", took)
				}
				if !tc.fine {
					fellBack(t, name, got, tc.requests)
				} else if told(got) != "tvätt chore 1 0.9" || got.Usage != (classify.Usage{Model: "small", Requests: tc.requests, In: 321, Out: 45}) {
					t.Errorf("%q, %+v", told(got), got.Usage)
				}
			})
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var errNetwork = errors.New("connection reset")

// reply answers with a status; 0 cuts the network, -1 never answers, -2 sends a
// body that never ends.
func reply(r *http.Request, status int, retryAfter string) (*http.Response, error) {
	switch status {
	case 0:
		return nil, errNetwork
	case -1:
		<-r.Context().Done()
		return nil, r.Context().Err()
	case -2:
		return &http.Response{StatusCode: 200, Body: io.NopCloser(waiting{r.Context()})}, nil
	}
	a := &api{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
		if status != http.StatusOK {
			w.Header().Set("Retry-After", retryAfter)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"message":"secret"}}`)
			return
		}
		write(w, completion(deeds(deed("tvätt", "diskat", nil))))
	}}
	if retryAfter == "" && status != http.StatusOK {
		out, err := a.RoundTrip(r)
		out.Header.Del("Retry-After")
		return out, err
	}
	return a.RoundTrip(r)
}

// waiting is a body whose Read returns when the context ends, with its error.
type waiting struct{ context.Context }

func (w waiting) Read([]byte) (int, error) { <-w.Done(); return 0, w.Err() }

// After five failures in a row nothing is asked for half a minute; then one request
// tries, and the circuit is closed again when it is answered.
func TestTheCircuit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, status := 0, 500
		b := openAt(t, "http://api/v1", transport(func(r *http.Request) (*http.Response, error) {
			n++
			return reply(r, status, "")
		}))
		for _, step := range []struct {
			wait          time.Duration
			status        int
			asked, opened int // requests of the step
		}{
			{0, 500, 2, 0},
			{0, 500, 2, 0},
			{0, 500, 1, 0}, // the fifth opens it
			{0, 200, 0, 0},
			{29 * time.Second, 200, 0, 0},
			{2 * time.Second, 500, 1, 0}, // half open: one tries, and it is open again
			{29 * time.Second, 200, 0, 0},
			{2 * time.Second, 200, 1, 0},
			{0, 200, 1, 0},
		} {
			time.Sleep(step.wait)
			before := n
			status = step.status
			got := b.asks(t, diskat)
			if n-before != step.asked || got.Usage.Requests != step.asked || got.Usage.FellBack != (step.status != 200 || step.asked == 0) {
				t.Errorf("%+v: %d requests, %+v", step, n-before, got.Usage)
			}
		}
	})
}

// A caller that gives up is not a failure of the API, and gets no answer to
// store.
func TestTheCallerGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		status := -1
		b := openAt(t, "http://api/v1", transport(func(r *http.Request) (*http.Response, error) { return reply(r, status, "") }))
		m := classify.Message{Event: eventAt(t, noon), Text: diskat}
		for range 9 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			if got, err := b.Classify(ctx, m); !errors.Is(err, context.Canceled) || len(got.Done) > 0 {
				t.Errorf("%+v, %v", got, err)
			}
		}
		status = 200
		if got := b.asks(t, diskat); got.Usage.FellBack {
			t.Error("the circuit is open")
		}
	})
}

// What is too long, or has no words, is not sent.
func TestWhatIsNotAsked(t *testing.T) {
	t.Parallel()
	a := writes(deeds())
	b := open(t, a)
	fellBack(t, "a long text", b.asks(t, diskat+strings.Repeat(" och så vidare", 400)), 0)
	if got := b.asks(t, " … !? "); told(got) != "" || got.Usage != (classify.Usage{}) {
		t.Errorf("%+v", got)
	}
	if a.asked() > 0 {
		t.Error("sent")
	}
	trouble := fmt.Errorf("no table")
	c := b.Config
	c.Phrases = func(context.Context, string) ([]alias.Alias, error) { return nil, trouble }
	without, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := without.Classify(t.Context(), classify.Message{Text: diskat}); !errors.Is(err, trouble) {
		t.Error(err)
	}
	for name, change := range map[string]func(*model.Config){
		"no model": func(c *model.Config) { c.Model = "" }, "no limits": func(c *model.Config) { c.Limits = nil }, "no tokens": func(c *model.Config) { c.TokensADay = 0 },
	} {
		wrong := b.Config
		change(&wrong)
		if _, err := model.New(wrong); err == nil {
			t.Error(name, "is accepted")
		}
	}
}
