package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/internal/serving/servingtest"
)

// live is a service in a bubble, where minutes pass at once. It has no sockets,
// and a database inside the process, which the test disturbs.
type live struct {
	*service
	t       *testing.T
	log     *servingtest.Buffer
	stop    context.CancelFunc
	err     error // of run
	done    chan struct{}
	updates int64
	lasting *lasting // stands for a queue that does not end with the process
}

// nowhere is a listener that nobody connects to.
type nowhere struct {
	closed chan struct{}
	once   *sync.Once
}

func (l nowhere) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}
func (l nowhere) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l nowhere) Addr() net.Addr { return &net.TCPAddr{} }

// broken is a listener that breaks.
type broken struct{ nowhere }

func (broken) Accept() (net.Conn, error) { return nil, errTrouble }

// A listener that breaks ends the service in the same order, and the service
// returns its error.
func TestABrokenListenerEndsTheService(t *testing.T) {
	t.Parallel()
	inBubble(t, false, nil, func(t *testing.T, l *live) {
		if err := l.end(); err != nil {
			t.Fatal(err)
		}
		l.server = &http.Server{Handler: l.server.Handler} // the first has ended
		l.post()                                           // as from a connection that was open
		err := l.run(t.Context(), broken{nowhere{make(chan struct{}), new(sync.Once)}})
		if !errors.Is(err, errTrouble) || l.memory.Len() > 0 || l.ready.Load() || strings.Count(l.log.String(), "takes no more requests") != 2 {
			t.Errorf("ended with %v, %d left, ready %v: %s", err, l.memory.Len(), l.ready.Load(), l.log)
		}
	})
}

// inBubble starts a service on a database with the given faults. Its queue is
// deployed, or else ends with it.
func inBubble(t *testing.T, deployed bool, faults []dynamotest.Fault, f func(*testing.T, *live)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg, err := config.Load(environment(map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken}))
		if err != nil {
			t.Fatal(err)
		}
		p := Program{Out: io.Discard, Ending: Ending{Notice: atOnce, Answer: 10 * time.Second, Empty: 10 * time.Second}}
		l := &live{t: t, log: servingtest.NewBuffer(), done: make(chan struct{}), lasting: &lasting{Memory: queue.NewMemory(queue.Config{})}}
		if deployed {
			cfg.QueueURL = "http://127.0.0.1:9324/1/q"
			p.Queue = func(context.Context, config.Config, *slog.Logger) (queue.Queue, error) { return l.lasting, nil }
		}
		if l.service, err = p.newService(t.Context(), cfg, slog.New(slog.NewTextHandler(l.log, nil))); err != nil {
			t.Fatal(err)
		}
		l.gate.pollers = 2
		if deployed { // then the tables are, too
			if err := l.app.CreateTables(t.Context(), true); err != nil {
				t.Fatal(err)
			}
		}
		l.disturb(faults...)
		if err := l.setUp(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		l.stop = stop
		go func() {
			defer close(l.done)
			l.err = l.run(ctx, nowhere{make(chan struct{}), new(sync.Once)})
		}()
		synctest.Wait()
		f(t, l)
		l.end()
	})
}

// end stops the service, and returns the error of run.
func (l *live) end() error {
	l.stop()
	<-l.done
	return l.err
}

func (l *live) disturb(faults ...dynamotest.Fault) {
	for _, f := range faults {
		l.db.Embedded.Tap().Inject(f)
	}
}

func (l *live) heal() { l.db.Embedded.Tap().Heal() }

func (l *live) do(method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set(ingest.SecretHeader, secretToken)
	w := httptest.NewRecorder()
	l.server.Handler.ServeHTTP(w, r)
	return w
}

// update is the next update, of a chat of its own.
func (l *live) update() string {
	l.updates++
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%[1]d,"date":%d,"from":{"id":7,"is_bot":false,"first_name":"Eva"},`+
		`"chat":{"id":-%[1]d,"type":"group"},"text":"Jag har diskat"}}`, l.updates, time.Now().Unix())
}

// post posts the next update and reports whether it was acknowledged.
func (l *live) post() bool {
	return l.do(http.MethodPost, "/telegram", l.update()).Code == http.StatusOK
}

func (l *live) readiness() string {
	w := l.do(http.MethodGet, "/readyz", "")
	return fmt.Sprintf("%d %s", w.Code, w.Body)
}

// stored returns how many messages and activities the tables hold.
func (l *live) stored() (messages, activities int) {
	l.t.Helper()
	counts := map[string]int{}
	for _, table := range []string{"homeops-messages", "homeops-activities"} {
		pages := dynamodb.NewScanPaginator(l.db.Client, &dynamodb.ScanInput{TableName: &table})
		for pages.HasMorePages() {
			page, err := pages.NextPage(l.t.Context())
			if err != nil {
				l.t.Fatal(err)
			}
			counts[table] += int(page.Count)
		}
	}
	return counts["homeops-messages"], counts["homeops-activities"]
}

var discard = slog.New(slog.DiscardHandler)

// The service sends the hour's job at every full hour, and at its start for the
// hour that has begun. If the queue refuses it, the service sends it again within
// the hour. It sends none when it ends.
func TestTheClockAsksForJobs(t *testing.T) {
	t.Parallel()
	inBubble(t, true, nil, func(t *testing.T, l *live) {
		began := time.Now().Truncate(time.Hour)
		time.Sleep(90 * time.Minute)
		time.Sleep(time.Until(began.Add(5*time.Hour + time.Second)))
		l.end()
		time.Sleep(2 * time.Hour)
		var got []string
		for _, body := range l.lasting.sent { // its senders have ended
			j, ok, err := job.Parse(body)
			if !ok || err != nil || j.Name != job.Hourly {
				t.Errorf("%s: %v, %v", body, ok, err)
			}
			got = append(got, j.Due.Sub(began).String())
		}
		want := []string{"0s", "1h0m0s", "2h0m0s", "2h0m0s", "2h0m0s", "3h0m0s", "4h0m0s", "5h0m0s"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if n := strings.Count(l.log.String(), "the hour's job is not sent yet"); n != 2 {
			t.Errorf("%d complaints: %s", n, l.log)
		}
	})
}

// lasting refuses what is sent in the first two minutes of the third hour.
type lasting struct {
	*queue.Memory
	mu   sync.Mutex
	sent []string // guarded by mu
}

func (q *lasting) Send(ctx context.Context, body string, attributes map[string]string) (string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = append(q.sent, body)
	if now := time.Now(); now.Hour() == 2 && now.Minute() < 2 {
		return "", errTrouble
	}
	return q.Memory.Send(ctx, body, attributes)
}
