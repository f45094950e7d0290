package intake_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/spool"
)

// spooling gives the handler a spool, and returns its directory.
func (b *bench) spooling(most int64) string {
	b.t.Helper()
	dir := filepath.Join(b.t.TempDir(), "spool")
	b.reopen(dir, most)
	return dir
}

// reopen opens the spool as the next process does.
func (b *bench) reopen(dir string, most int64) {
	b.t.Helper()
	if b.Spool != nil {
		b.Spool.Close()
	}
	var err error
	if b.Spool, err = spool.Open(dir, most); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { b.Spool.Close() })
}

// inSpool checks how many entries wait.
func (b *bench) inSpool(want int) {
	b.t.Helper()
	if n, err := b.Spool.Len(); n != want || err != nil {
		b.t.Errorf("%d entries, want %d, %v\n%s", n, want, err, b.logged())
	}
}

// down lets no request of the bench reach its tables before Heal. A request gets no
// reply, and is sent again after a while: few requests, however long it lasts.
func (b *bench) down() { b.db.Inject(dynamotest.Fault{Do: dynamotest.Delay(time.Hour), Times: -1}) }

// numbered is an ended call of its own.
func numbered(n int) string {
	return strings.ReplaceAll(call("completed"), "985097163", fmt.Sprint(985100000+n))
}

// wantsCalls compares the facts with the calls that were sent.
func (b *bench) wantsCalls(n int) {
	b.t.Helper()
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("ALOWARE:CALL:%d", 985100000+i))
	}
	got, refusals := b.stored()
	if slices.Sort(got); !slices.Equal(got, want) || refusals != 0 {
		b.t.Errorf("facts %v, want %v; %d refusals", got, want, refusals)
	}
}

// Ten seconds without DynamoDB: each call of Aloware is answered 200 and is a fact,
// although none is sent again, and no directory is set.
func TestTenSecondsWithoutDynamoDB(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.down()
		time.AfterFunc(10*time.Second, b.db.Heal)
		var wait sync.WaitGroup
		for n := range 33 {
			wait.Go(func() { b.send1(numbered(n), 200) })
			time.Sleep(300 * time.Millisecond)
		}
		wait.Wait()
		b.wantsCalls(33)
	})
}

// send1 sends a webhook of Aloware and checks the status.
func (b *bench) send1(body string, want int) {
	b.t.Helper()
	if status, counts := b.serve(b.request(b.t.Context(), intake.AlowarePath, body)); status != want {
		b.t.Errorf("%.60s: %d %+v, want %d", body, status, counts, want)
	}
}

// A longer outage: after 90 s the calls are in the spool, are answered 200, and are
// facts when DynamoDB is back. In the second run the process dies between the
// transaction and the erasure of the files: the calls are known then.
func TestALongOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		dir := b.spooling(spool.Most)
		b.down()
		began := time.Now()
		var wait sync.WaitGroup
		for n := range 6 {
			wait.Go(func() { b.send1(numbered(n), 200) })
		}
		wait.Wait()
		if took := time.Since(began); took < intake.AlowareWithin-time.Second || took > intake.AlowareWithin {
			t.Errorf("it took %s", took)
		}
		if got, want := b.Tally.Snapshot(), (intake.Counts{Received: 6, Waiting: 6, Spooled: 6}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		b.inSpool(6)
		b.TakeIn(t.Context()) // DynamoDB is still away: one is tried
		b.inSpool(6)
		if got := b.logged(); strings.Contains(got, "level=ERROR") || !strings.Contains(got, `level=WARN msg="the spool waits" files=6 first=`) {
			t.Errorf("nothing is lost:\n%s", got)
		}

		b.db.Heal()
		erased := map[string][]byte{}
		files, _ := filepath.Glob(dir + "/*")
		for _, file := range files {
			erased[file], _ = os.ReadFile(file)
		}
		b.reopen(dir, spool.Most)
		b.TakeIn(t.Context())
		b.inSpool(0)
		b.wantsCalls(6)
		for file, text := range erased { // as if the process had died before it erased them
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b.reopen(dir, spool.Most)
		b.TakeIn(t.Context())
		b.inSpool(0)
		b.wantsCalls(6)
		want := intake.Counts{Received: 18, Waiting: 6, Spooled: 6, New: 6, Duplicate: 6}
		if got := b.Tally.Snapshot(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// Without a directory, what is not stored in 90 s is answered 503, and the log has an
// error. HubSpot's requests never go to the spool, and a full spool takes nothing.
func TestWhatIsNotSpooled(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{"no directory": "QUILL_SPOOL is not set", "full": "spool: the directory is full", "gone": "no such file"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			switch name {
			case "full":
				b.spooling(int64(len(sms)))
			case "gone":
				if err := os.RemoveAll(b.spooling(spool.Most)); err != nil {
					t.Fatal(err)
				}
			}
			b.down()
			b.send(intake.HubSpotPath, batch(change(1)), 503, isUnstored)
			if strings.Contains(b.logged(), says) {
				t.Errorf("%s: HubSpot sends again:\n%s", name, b.logged())
			}
			b.send(intake.AlowarePath, sms, 503, isUnstored)
			if got := b.logged(); !strings.Contains(got, `level=ERROR msg="a webhook of Aloware is lost"`) || !strings.Contains(got, says) {
				t.Errorf("%s:\n%s", name, got)
			}
		})
	}
}

// 256 requests of Aloware wait. One more is answered at once: 503, or 200 from the
// spool. HubSpot's do not count.
func TestRequestsThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.down()
		time.AfterFunc(time.Second, b.db.Heal)
		var wait sync.WaitGroup
		for n := range intake.Held {
			wait.Go(func() { b.send1(numbered(n), 200) })
		}
		synctest.Wait()
		began := time.Now()
		b.send1(numbered(intake.Held), 503)
		b.spooling(spool.Most)
		b.send1(numbered(intake.Held), 200)
		if took := time.Since(began); took != 0 {
			t.Errorf("one more: after %s", took)
		}
		b.inSpool(1)
		if !strings.Contains(b.logged(), "too many others wait") {
			t.Errorf("the log does not say why:\n%.500s", b.logged())
		}
		wait.Wait()
		b.wantsCalls(intake.Held)
		b.send1(numbered(intake.Held), 200) // all have gone
		b.wantsCalls(intake.Held + 1)
	})
}

// When the service ends in an outage, what waits goes to the spool after HubSpot's
// time, and so does what still comes.
func TestTheEndInAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ends := make(chan struct{})
		b.Ending = ends
		b.spooling(spool.Most)
		b.down()
		time.AfterFunc(30*time.Second, func() { close(ends) })
		began := time.Now()
		b.send1(numbered(0), 200)
		if took, want := time.Since(began), 30*time.Second+intake.HubSpotWithin; took != want {
			t.Errorf("answered after %s, want %s", took, want)
		}
		began = time.Now()
		b.send1(numbered(1), 200)
		if took := time.Since(began); took > intake.HubSpotWithin {
			t.Errorf("answered after %s", took)
		}
		b.inSpool(2)
		b.db.Heal()
		b.TakeIn(t.Context())
		b.wantsCalls(2)
	})
}

// After the ledger's retention an event may be known without a mark. It is
// refused, and refused -again can take it.
func TestAnOldEntry(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]int{intake.Retention - time.Second: 0, intake.Retention: 1} {
		b := newBench(t)
		b.spooling(spool.Most)
		if err := b.Spool.Put(spool.Entry{ReceivedAt: b.clock().Add(-age), Body: []byte(sms)}); err != nil {
			t.Fatal(err)
		}
		b.TakeIn(t.Context())
		if keys, refusals := b.stored(); refusals != want || len(keys) != 1-want {
			t.Errorf("%s: %v, %d refusals", age, keys, refusals)
		}
		b.inSpool(0)
	}
}

// An entry that cannot be stored does not hold up others.
func TestAnEntryThatCannotBeStored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.spooling(spool.Most)
	for n := range 5 {
		if err := b.Spool.Put(spool.Entry{ReceivedAt: b.clock().Add(time.Duration(n)), Body: []byte(numbered(n))}); err != nil {
			t.Fatal(err)
		}
	}
	deny := dynamotest.Fault{Do: dynamotest.Answer(http.StatusBadRequest, `{"__type": "AccessDeniedException"}`), Op: "TransactWriteItems"}
	b.db.Inject(deny) // the first
	b.TakeIn(t.Context())
	b.inSpool(5)
	deny.Nth = 5 // the first again, after all others
	b.db.Inject(deny)
	b.TakeIn(t.Context())
	b.inSpool(1)
	b.TakeIn(t.Context())
	b.wantsCalls(5)
}

// A forged request does not reach the spool, and its body is not read if its headers
// are enough to refuse it.
func TestForgedBodiesAreNotRead(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*http.Request){
		"no token":         func(r *http.Request) { r.Header.Del("Authorization") },
		"a wrong token":    func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") },
		"a wrong password": func(r *http.Request) { r.SetBasicAuth("aloware", "x") },
		"no signature":     func(r *http.Request) { r.Header.Del("X-HubSpot-Signature-v3") },
		"no time":          func(r *http.Request) { r.Header.Del("X-HubSpot-Request-Timestamp") },
		"an old time":      func(r *http.Request) { r.Header.Set("X-HubSpot-Request-Timestamp", "1795240000000") },
		"an older version": func(r *http.Request) {
			r.Header.Del("X-HubSpot-Signature-v3")
			r.Header.Set("X-HubSpot-Signature", "x")
			r.Header.Set("X-HubSpot-Signature-Version", "v1")
		},
	} {
		b := newBench(t)
		b.spooling(spool.Most)
		path := intake.HubSpotPath
		if strings.Contains(name, "token") || strings.Contains(name, "password") {
			path = intake.AlowarePath
		}
		r := b.request(t.Context(), path, sms)
		change(r)
		unread := &counting{Reader: strings.NewReader(sms)}
		r.Body = io.NopCloser(unread)
		if status, _ := b.serve(r); status != 401 || unread.n.Load() != 0 {
			t.Errorf("%s: %d, %d bytes are read", name, status, unread.n.Load())
		}
		b.inSpool(0)
	}
}

// counting counts what is read.
type counting struct {
	io.Reader
	n atomic.Int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// Requests that nobody can authenticate yet hold 64 MB together. What they hold is
// free when they end, and Aloware's are not refused for them.
func TestBodiesThatAreHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var wait sync.WaitGroup
		ended := make(chan struct{})
		for range 8 {
			r := b.request(t.Context(), intake.HubSpotPath, "")
			r.Body = io.NopCloser(io.MultiReader(io.LimitReader(blanks{}, 8<<20), until(ended)))
			wait.Go(func() {
				if status, _ := b.serve(r); status != 401 {
					t.Errorf("a forged body: %d", status)
				}
			})
		}
		synctest.Wait()
		w := httptest.NewRecorder()
		b.ServeHTTP(w, b.request(t.Context(), intake.HubSpotPath, batch(change(1))))
		if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(b.logged(), "level=ERROR") {
			t.Errorf("one more: %d %s", w.Code, w.Body)
		}
		b.send(intake.AlowarePath, sms, 200, isNew)
		close(ended)
		wait.Wait()
		b.send(intake.HubSpotPath, batch(change(1)), 200, isNew)
	})
}

// blanks is a body without an end.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(" ", len(p))), nil
}

// until is a body that ends when the channel is closed.
type until chan struct{}

func (u until) Read([]byte) (int, error) {
	<-u
	return 0, io.EOF
}

// Large bodies do not take the room from those that are still to be read.
func TestLargeCallsInAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		const large = 1 << 10
		b.Handler.Bodies = 64 * large
		b.spooling(spool.Most)
		b.down()
		time.AfterFunc(5*time.Second, b.db.Heal)
		var wait sync.WaitGroup
		for n := range 64 {
			text := numbered(n)
			wait.Go(func() { b.send1(text+strings.Repeat(" ", large-len(text)), 200) })
		}
		synctest.Wait()
		b.send1(numbered(64), 200)
		wait.Wait()
		b.TakeIn(t.Context())
		b.wantsCalls(65)
	})
}
