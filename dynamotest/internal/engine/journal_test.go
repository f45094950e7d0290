package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
)

// puts returns steps that make a table and put items of about size bytes each
// into it.
func puts(n, keys, size int) []step {
	steps := []step{{"CreateTable", `{"TableName":"plain","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"N"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`}}
	for i := range n {
		steps = append(steps, step{"PutItem", fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"N":"%d"},"n":{"N":"%d"},"text":{"S":"%s"}}}`, i%keys, i, strings.Repeat("x", size))})
	}
	return steps
}

// played returns an engine that has done the steps, and its disk.
func played(t testing.TB, steps []step) (*Engine, *model) {
	t.Helper()
	m := newModel()
	e := onModel(m, ticking())
	if err := e.OpenJournal("data"); err != nil {
		t.Fatal(err)
	}
	for i, s := range steps {
		if !s.do(e) {
			t.Fatalf("step %d is refused", i)
		}
		m.compacted(e.journal)
	}
	return e, m
}

// holding returns a disk with one file.
func holding(content []byte) *model {
	m := newModel()
	m.names["data"] = &inode{data: bytes.Clone(content)}
	return m
}

// If the last line is torn in any way, the server opens with what came before, and
// logs what it cut off. The line is kept if it lacks only its newline, or if blocks
// of zeros follow it.
func TestATornEndIsCutOff(t *testing.T) {
	t.Parallel()
	e, m := played(t, puts(2, 9, 10))
	content := m.names["data"].data
	after := whole(t, e)
	e, m = played(t, puts(1, 9, 10))
	before, start := whole(t, e), len(m.names["data"].data)
	for end := start; end <= len(content); end++ {
		for _, zeros := range []string{"", "\x00\x00\x00"} {
			torn := holding(append(content[:end:end], zeros...))
			var log bytes.Buffer
			e := New(Options{Disk: torn, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err := e.OpenJournal("data"); err != nil {
				t.Fatalf("cut at %d: %v", end, err)
			}
			want, kept := before, start
			if end >= len(content)-1 {
				want, kept = after, len(content)
			}
			if diff := cmp.Diff(want, whole(t, e)); diff != "" {
				t.Fatalf("cut at %d of %d: %s", end, len(content), diff)
			}
			if got := torn.names["data"].data; !bytes.Equal(got, content[:kept]) {
				t.Fatalf("cut at %d: left %q", end, got)
			}
			said := ""
			switch cut := end + len(zeros) - kept; {
			case end == len(content)-1:
				said = fmt.Sprintf("mended the last line of the data file, which lacked its newline\" file=data line=4 byte=%d bytes=%d ", start, len(zeros))
			case cut > 0:
				said = fmt.Sprintf("file=data line=%d byte=%d bytes=%d ", 4+bytes.Count(content[start:kept], []byte("\n")), kept, cut)
			}
			if got := log.String(); !strings.Contains(got, said) || said == "" && got != "" {
				t.Fatalf("cut at %d, the log: %s", end, got)
			}
		}
	}
}

// tagged returns steps that tag the table of puts, in requests of about size
// bytes.
func tagged(n, size int) (steps []step) {
	for i := range n {
		steps = append(steps, step{"TagResource", fmt.Sprintf(`{"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/plain","Tags":[{"Key":"k","Value":"%d"}],"Ignored":"%s"}`, i, strings.Repeat("x", size))})
	}
	return steps
}

// tables returns steps that make tables.
func tables(n int) (steps []step) {
	for i := range n {
		s := puts(0, 0, 0)[0]
		s.body = strings.Replace(s.body, "plain", fmt.Sprintf("table%d", i), 1)
		steps = append(steps, s)
	}
	return steps
}

// Only outdated entries are a reason to begin a new file, and the old file must
// be large enough.
func TestWhenTheFileIsCompacted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		before      []step // they are not counted
		steps       []step
		least, most int
	}{
		{"nothing is over", nil, puts(300, 300, 100), 0, 0},
		{"a little is", nil, puts(300, 200, 100), 0, 0},
		{"most is", nil, puts(300, 10, 100), 8, 20},
		{"all is, and it is small", nil, puts(4, 1, 100), 0, 0},
		{"most was", puts(40, 1, 100), puts(300, 300, 100)[1:], 0, 1},
		{"most of it is requests for tables", puts(20, 20, 100), tagged(300, 500), 8, 60},
		{"tables are most of it, and as they are", puts(0, 0, 0), tables(40), 0, 0},
	} {
		e, m := played(t, append(tt.before, tt.steps...))
		_, before := played(t, tt.before)
		if n := m.renames - before.renames; n < tt.least || n > tt.most {
			t.Errorf("%s: compacted %d times, want %d to %d", tt.name, n, tt.least, tt.most)
		}
		if size := int64(len(m.names["data"].data)); size != e.journal.Status().Size {
			t.Errorf("%s: %d bytes, taken for %d", tt.name, size, e.journal.Status().Size)
		}
	}
}

// watched is a disk that calls a function before a file is synced.
type watched struct {
	*model
	beforeSync func()
}

func (w watched) Open(path string) (journal.File, error) {
	file, err := w.model.Open(path)
	return watchedFile{file, w.beforeSync}, err
}

func (w watched) Lock(file journal.File) error { return w.model.Lock(file.(watchedFile).File) }

func (w watched) Named(path string, file journal.File) error {
	return w.model.Named(path, file.(watchedFile).File)
}

type watchedFile struct {
	journal.File
	beforeSync func()
}

func (f watchedFile) Sync() error {
	f.beforeSync()
	return f.File.Sync()
}

// Callers that come while a sync is under way share the next one.
func TestCallersShareASync(t *testing.T) {
	t.Parallel()
	syncs := make(chan struct{}, 100) // each value lets one sync go on
	disk := watched{newModel(), func() { <-syncs }}
	e := New(Options{Disk: disk})
	syncs <- struct{}{} // of the first line
	syncs <- struct{}{} // of the table
	if err := e.OpenJournal("data"); err != nil {
		t.Fatal(err)
	}
	steps := puts(51, 51, 10)
	if !steps[0].do(e) {
		t.Fatal("no table")
	}
	j := e.journal
	until := func(done func(journal.Status) bool) {
		for {
			if done(j.Status()) {
				return
			}
			runtime.Gosched()
		}
	}
	var all sync.WaitGroup
	acknowledged := atomic.Int64{}
	put := func(s step) {
		all.Go(func() {
			if s.do(e) {
				acknowledged.Add(1)
			}
		})
	}
	put(steps[1])
	until(func(s journal.Status) bool { return s.Flushing && s.Waiting == 0 && s.Appended == 2 })
	for _, s := range steps[2:] {
		put(s)
	}
	until(func(s journal.Status) bool { return s.Appended == 52 })
	if n := acknowledged.Load(); n > 0 {
		t.Errorf("%d were acknowledged before anything was synced", n)
	}
	syncs <- struct{}{} // of the first item
	syncs <- struct{}{} // and of fifty others
	all.Wait()
	if n := acknowledged.Load(); n != 51 {
		t.Errorf("%d were acknowledged", n)
	}
	if lines := bytes.Count(disk.names["data"].data, []byte("\n")); lines != 4 {
		t.Errorf("%d lines", lines)
	}
}

// After the disk has failed, every request fails, even a read, because memory
// has changes that the file lacks: a read would show what a restart takes back.
// The log says so once. The file has everything that was acknowledged.
func TestADiskThatFails(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"write", "sync"} {
		var log bytes.Buffer
		m := newModel()
		e := New(Options{Now: ticking(), Disk: m, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err := e.OpenJournal("data"); err != nil {
			t.Fatal(err)
		}
		for _, s := range puts(3, 9, 10) {
			s.do(e)
		}
		want := whole(t, e)
		m.failAt = m.operations + 1
		if operation == "sync" {
			m.failAt++
		}
		lost := step{"PutItem", `{"TableName":"plain","Item":{"id":{"N":"77"}}}`}
		for _, s := range []step{lost, {"GetItem", `{"TableName":"plain","Key":{"id":{"N":"77"}}}`}, {"ListTables", `{}`}, lost} {
			res := e.Do(t.Context(), s.op, []byte(s.body))
			if res.Err == nil || res.Err.Code != api.InternalServerError || res.Err.Message != "the data file cannot be written, so every request fails, reads too, until the server is opened again: the disk failed" {
				t.Errorf("%s fails, and %s is answered %v", operation, s.op, res.Err)
			}
		}
		if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, `level=ERROR msg="dynamotest: the data file cannot be written: every request fails, reads too, until the server is opened again" file=data error="the disk failed"`) {
			t.Errorf("%s fails, and the log says %q", operation, said)
		}
		if n := e.journal.Status().Waiting; n > 0 {
			t.Errorf("%d bytes wait for a disk that has failed", n)
		}
		if err := e.CloseJournal(); !errors.Is(err, errDisk) {
			t.Errorf("closed: %v", err)
		}
		e = onModel(m.crash(image{}, nil), ticking())
		if err := e.OpenJournal("data"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, whole(t, e)); diff != "" {
			t.Errorf("%s fails: %s", operation, diff)
		}
	}
}

// The journal entry of a write, or of a request for a table, is encoded before
// the lock is taken. So it has what was planned, even if the plan is replaced
// before the commit.
func TestTheJournalIsEncodedBeforeTheLock(t *testing.T) {
	t.Parallel()
	e, m := played(t, puts(0, 0, 0))
	var req api.PutItem
	if err := api.Decode([]byte(`{"TableName":"plain","Item":{"id":{"N":"7"},"is":{"S":"planned"}}}`), &req); err != nil {
		t.Fatal(err)
	}
	w, err := prepare(api.Put, &req.Write, "plain", false)
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.locate(w)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.evaluate(w); err != nil {
		t.Fatal(err)
	}
	c.new = newRecord(c.new.item.Pick("id"))
	call := &Call{Operation: "ListTables", body: []byte(`{"Limit":7}`)}
	call.encode()
	e.mu.Lock()
	e.commit(epoch, []*change{&c})
	call.body = nil
	e.logRequest(call, epoch)
	e.mu.Unlock()
	if err := e.journal.Settle(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"is":{"S":"planned"}`, `"Op":"ListTables","Request":"{\"Limit\":7}"`} {
		if content := m.names["data"].data; !bytes.Contains(content, []byte(want)) {
			t.Errorf("%s is not in %s", want, content)
		}
	}
}

// A request that a closed server refuses has not taken effect: a dump has the
// same as the file.
func TestAClosedServerStaysAsItIs(t *testing.T) {
	t.Parallel()
	e, _ := played(t, append(puts(3, 9, 10),
		step{"UpdateTimeToLive", `{"TableName":"plain","TimeToLiveSpecification":{"AttributeName":"n","Enabled":true}}`},
		step{"PutItem", fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"N":"0"},"n":{"N":"%d"}}}`, epoch.Unix()-3600)}))
	if err := e.CloseJournal(); err != nil {
		t.Fatal(err)
	}
	want := whole(t, e)
	for _, s := range []step{
		{"PutItem", `{"TableName":"plain","Item":{"id":{"N":"77"}}}`},
		{"TransactWriteItems", `{"ClientRequestToken":"t","TransactItems":[{"Put":{"TableName":"plain","Item":{"id":{"N":"77"}}}}]}`},
		{"DeleteTable", `{"TableName":"plain"}`},
		{"GetItem", `{"TableName":"plain","Key":{"id":{"N":"1"}}}`},
	} {
		if res := e.Do(t.Context(), s.op, []byte(s.body)); res.Err == nil || res.Err.Code != api.ServerClosed {
			t.Errorf("%s is answered %v", s.op, res.Err)
		}
	}
	if err := e.LoadItems("plain", strings.NewReader(`{"Item":{"id":{"N":"77"}}}`)); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("items are loaded: %v", err)
	}
	if err := e.Load(strings.NewReader(`{"Table":` + strings.Replace(puts(0, 0, 0)[0].body, "plain", "other", 1) + `}`)); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("a table is loaded: %v", err)
	}
	if n := e.ExpireTTL(); n != 0 {
		t.Errorf("%d items expire", n)
	}
	if diff := cmp.Diff(want, whole(t, e)); diff != "" {
		t.Error(diff)
	}
}

// A request that is under way when the server is closed is finished first: it is
// in memory and in the file, and acknowledged.
func TestClosingWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	e, m := played(t, puts(3, 9, 10))
	end, err := e.journal.Begin()
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- e.CloseJournal() }()
	for !e.journal.Status().Closing { // until Close waits
		runtime.Gosched()
	}
	e.mu.Lock()
	e.tokens.spend("token", api.Fingerprint{}, epoch)
	e.mu.Unlock()
	if err := e.journal.Settle(); err != nil {
		t.Errorf("what was under way: %v", err)
	}
	end()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	again := onModel(m.restarted(), ticking())
	if err := again.OpenJournal("data"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole(t, e), whole(t, again)); diff != "" {
		t.Error(diff)
	}
}

// A server goes on if the disk has no room for a second file.
func TestNoRoomToCompact(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	m := newModel()
	full := noRoom{m}
	e := New(Options{Disk: full, CompactFrom: 1000, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err := e.OpenJournal("data"); err != nil {
		t.Fatal(err)
	}
	for i, s := range puts(60, 1, 100) {
		if !s.do(e) {
			t.Fatalf("step %d is refused", i)
		}
		m.compacted(e.journal)
	}
	want := whole(t, e)
	if err := e.CloseJournal(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), `msg="dynamotest: the data file was not compacted" file=data error="no space left"`); n < 2 || n > 5 {
		t.Errorf("%d attempts: %s", n, &log)
	}
	e = New(Options{Disk: full, CompactFrom: 1000, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err := e.OpenJournal("data"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, whole(t, e)); diff != "" {
		t.Error(diff)
	}
}

type noRoom struct{ *model }

func (noRoom) Create(string, journal.File) (journal.File, error) {
	return nil, errors.New("no space left")
}

// A file that has lost its name, or whose name another file has, takes nothing
// more, because it will not be found. The other file is left alone.
func TestAFileWithoutItsName(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]*inode{"removed": nil, "replaced": {data: []byte("another")}} {
		e, m := played(t, puts(3, 9, 10))
		if delete(m.names, "data"); other != nil {
			m.names["data"] = other
		}
		res := e.Do(t.Context(), "PutItem", []byte(`{"TableName":"plain","Item":{"id":{"N":"77"}}}`))
		if res.Err == nil || !strings.Contains(res.Err.Message, journal.ErrMoved.Error()) {
			t.Errorf("%s, and a write is answered %v", name, res.Err)
		}
	}
	m := newModel()
	m.hold = make(chan struct{})
	e := onModel(m, ticking())
	if err := e.OpenJournal("data"); err != nil {
		t.Fatal(err)
	}
	for _, s := range puts(30, 1, 100) { // a compaction begins, and waits
		if !s.do(e) {
			t.Fatalf("%s is refused", s.op)
		}
	}
	other := &inode{data: []byte("another")}
	m.mu.Lock()
	m.names["data"] = other
	m.mu.Unlock()
	m.compacted(e.journal)
	if m.names["data"] != other {
		t.Error("a compaction has put its file in the place of another's")
	}
	if (step{"ListTables", `{}`}).do(e) {
		t.Error("it goes on")
	}
}

// times returns all times that an engine keeps, except those of streams.
func times(e *Engine) (all []time.Time) {
	for _, t := range e.sorted() {
		all = append(all, t.def.Created, t.def.BilledSince, t.def.BackupsFrom)
	}
	for _, spent := range e.tokens.queue {
		all = append(all, spent.until)
	}
	return all
}

// A clock may be set to any year: its times are read back from a file, also
// after compacting.
func TestTimesOfAnyYear(t *testing.T) {
	t.Parallel()
	for _, from := range []time.Time{
		{},
		time.Date(1600, 1, 1, 0, 0, 0, 1, time.UTC), time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Unix(math.MaxInt64/2, 5), time.Unix(math.MinInt64/2, 5),
	} {
		for _, compactFrom := range []int64{1, 1 << 20} {
			m, ticks := newModel(), 0
			now := func() time.Time { ticks++; return from.Add(time.Duration(ticks) * time.Nanosecond) }
			e := New(Options{Now: now, Disk: m, CompactFrom: compactFrom})
			if err := e.OpenJournal("data"); err != nil {
				t.Fatal(err)
			}
			for _, s := range history() {
				if !s.do(e) {
					t.Fatalf("%v: %s is refused", from, s.op)
				}
				m.compacted(e.journal)
			}
			again := New(Options{Now: now, Disk: m.restarted()})
			if err := again.OpenJournal("data"); err != nil {
				t.Fatalf("%v: %v", from, err)
			}
			want, got := times(e), times(again)
			if len(want) < 8 || !slices.EqualFunc(want, got, time.Time.Equal) {
				t.Errorf("from %v, compacted %d times: got %v, want %v", from, m.renames, got, want)
			}
		}
	}
}

func TestWhatIsNoTime(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "1.5", "1e3", `"1"`, "null", "99999999999999999999999999999", strings.Repeat("9", 1000)} {
		if at, err := journal.ParseTime(text); err == nil {
			t.Errorf("%.40s is read as %v", text, at)
		}
	}
}

// After a panic in a flush the other callers do not wait for ever.
func TestAFlushThatPanics(t *testing.T) {
	t.Parallel()
	opened := atomic.Bool{}
	disk := watched{newModel(), func() {
		if opened.Load() {
			panic("this is a test")
		}
	}}
	e := New(Options{Disk: disk, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err := e.OpenJournal("data"); err != nil {
		t.Fatal(err)
	}
	opened.Store(true)
	for _, want := range []string{"internal error in CreateTable: this is a test", "the data file cannot be written, so every request fails, reads too, until the server is opened again: writing it panicked"} {
		if res := e.Do(t.Context(), "CreateTable", []byte(puts(0, 0, 0)[0].body)); res.Err == nil || res.Err.Message != want {
			t.Errorf("got %v, want %s", res.Err, want)
		}
	}
}
