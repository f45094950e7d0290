package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/upkeep/backfill"
	"github.com/homeops/ddbpatterns/internal/golden"
)

// server is a DynamoDB on loopback whose test sees each request before it is
// served.
type server struct {
	*httptest.Server
	db *dynamodb.Client

	mu     sync.Mutex
	scans  []string // the bodies of all
	ops    map[string]int
	before func(op string, nth int) // of the operation
}

func newServer(t *testing.T, rows int) *server {
	t.Helper()
	engine := dynamotest.NewServer(nil)
	s := &server{db: engine.Client(), ops: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		body, _ := io.ReadAll(in.Body)
		in.Body = io.NopCloser(bytes.NewReader(body))
		_, op, _ := strings.Cut(in.Header.Get("X-Amz-Target"), ".")
		s.mu.Lock()
		s.ops[op]++
		if op == "Scan" {
			s.scans = append(s.scans, string(body))
		}
		if s.before != nil {
			s.before(op, s.ops[op])
		}
		s.mu.Unlock()
		engine.Handler().ServeHTTP(out, in)
	}))
	t.Cleanup(s.Close)
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.Options{Config: cfg, DB: s.db, Now: time.Now})
	if err == nil {
		err = a.CreateTables(t.Context(), false)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.fill(t, rows)
	return s
}

func str(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
func num(n int) types.AttributeValue       { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

// fill stores so many rows of the older system in each table.
func (s *server) fill(t *testing.T, rows int) {
	t.Helper()
	put := func(table string, row map[string]types.AttributeValue) {
		if _, err := s.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: row}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rows {
		put("homeops-activities", map[string]types.AttributeValue{
			"chatId": str(fmt.Sprint(-1 - i%7)), "activityId": str(fmt.Sprintf("01KHNJCN209NS9FF710%07d", i)), "userId": num(i % 3),
			"timestamp": num(1771324200 + i), "activity": str("a#b"), "activityTimestamp": str(fmt.Sprintf("a#b#%d", 1771324200+i)),
		})
		put("homeops-response-counters", map[string]types.AttributeValue{"chatId": str(fmt.Sprint(i)), "date": str("2026-03-29"), "count": num(2)})
		put("QuillIdempotencyLedger", map[string]types.AttributeValue{"pk": str(fmt.Sprintf("ALOWARE:%d", i)), "seenAt": str("2026-03-15T12:00:01Z")})
		put("homeops", map[string]types.AttributeValue{"pk": str("ALIAS#-1"), "sk": str(fmt.Sprint("Fras ", i)), "canonicalActivity": str("a#b")})
	}
}

func (s *server) rows(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range []string{"homeops-activities", "homeops-response-counters", "QuillIdempotencyLedger", "homeops"} {
		pages := dynamodb.NewScanPaginator(s.db, &dynamodb.ScanInput{TableName: aws.String(table)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range page.Items { // in the same order for the same keys
				all[table] = append(all[table], golden.Format(it))
			}
		}
	}
	return all
}

// at watches the requests from now on.
func (s *server) at(before func(op string, nth int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.ops, s.scans = before, map[string]int{}, nil
}

// run runs the program to its end, and watches its requests.
func (s *server) run(c *exec.Cmd, before func(op string, nth int)) error {
	started := make(chan struct{})
	s.at(func(op string, nth int) {
		<-started
		before(op, nth)
	})
	err := c.Start()
	close(started)
	if err != nil {
		return err
	}
	return c.Wait()
}

// build makes the program once for all tests.
var build = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "backfill")
	if err != nil {
		return "", err
	}
	program := filepath.Join(folder, "backfill")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return program, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := build(); err == nil {
		os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

func command(t *testing.T, s *server, checkpoint string) *exec.Cmd {
	t.Helper()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "-write", "-segments", "2", "-units", "40000", "-checkpoint", checkpoint)
	c.Env = []string{"DYNAMO_ENDPOINT=" + s.URL}
	c.Stdout, c.Stderr = t.Output(), t.Output()
	return c
}

// A program that is killed at random requests, again and again, and run until it is
// done, leaves the same rows as a program that runs once. No page is skipped. What
// was done before a kill is not read again, except for a page of each segment.
func TestKilled(t *testing.T) {
	t.Parallel()
	const rows = 500
	once := newServer(t, rows)
	before := once.rows(t)
	if err := command(t, once, filepath.Join(t.TempDir(), "checkpoint.json")).Run(); err != nil {
		t.Fatal(err)
	}
	want := once.rows(t)
	if cmp.Equal(before, want) {
		t.Fatal("a run changes nothing")
	}

	chance := rand.New(rand.NewPCG(4, 2))
	s, checkpoint := newServer(t, rows), filepath.Join(t.TempDir(), "checkpoint.json")
	kills, resumed := 0, 0
	for done := false; !done; {
		op := []string{"UpdateItem", "UpdateItem", "Scan"}[chance.IntN(3)]
		nth := 1 + chance.IntN(map[string]int{"UpdateItem": 300, "Scan": 6}[op])
		c := command(t, s, checkpoint)
		err := s.run(c, func(got string, n int) {
			if got == op && n == nth && kills < 6 { // this request is still served
				c.Process.Kill()
			}
		})
		status, _ := c.ProcessState.Sys().(syscall.WaitStatus)
		switch {
		case err == nil:
			done = true
		case status.Signal() == syscall.SIGKILL:
			kills++
		default:
			t.Fatal(err)
		}
		s.mu.Lock()
		if len(s.scans) > 0 && strings.Contains(s.scans[0], "ExclusiveStartKey") {
			resumed++
		}
		s.mu.Unlock()
	}
	if diff := cmp.Diff(want, s.rows(t)); diff != "" {
		t.Errorf("rows of one run (-) and with %d kills (+):\n%.2000s", kills, diff)
	}
	if kills < 4 || resumed == 0 {
		t.Errorf("%d kills, %d runs went on from a page: the test shows nothing", kills, resumed)
	}
	text, err := os.ReadFile(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	var at struct {
		Tables map[string][]struct {
			Done   bool
			Counts backfill.Counts
		}
	}
	if err := json.Unmarshal(text, &at); err != nil {
		t.Fatal(err)
	}
	for table, segments := range at.Tables {
		read := int64(0)
		for _, segment := range segments {
			if read += segment.Counts.Rows; !segment.Done {
				t.Errorf("%s: not done: %s", table, text)
			}
		}
		if moved := table == "homeops"; read < rows || read > rows && !moved { // the Scan may find what moved once more
			t.Errorf("%s: the pages that are done have %d rows of %d", table, read, rows)
		}
	}
}

// An interrupt ends the program, which says what to do next.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	s := newServer(t, 300)
	c := command(t, s, filepath.Join(t.TempDir(), "checkpoint.json"))
	var log bytes.Buffer
	c.Stderr = &log
	err := s.run(c, func(op string, n int) {
		if op == "UpdateItem" && n == 50 {
			c.Process.Signal(os.Interrupt)
		}
	})
	if err == nil || c.ProcessState.ExitCode() != 1 || !strings.Contains(log.String(), "the same command goes on from "+c.Args[len(c.Args)-1]) {
		t.Errorf("%v: %s", err, &log)
	}
}

// The program's output, without -write and with it, and its refusals of bad
// input.
func TestCommand(t *testing.T) {
	t.Parallel()
	s := newServer(t, 10)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint.json")
	env := map[string]string{"DYNAMO_ENDPOINT": s.URL, "DYNAMO_REGION": "eu-north-1"}
	run := func(env map[string]string, args ...string) (int, string, string) {
		var out, log bytes.Buffer
		code := backfill.Command(t.Context(), append(args, "-checkpoint", checkpoint), func(name string) (string, bool) { v, ok := env[name]; return v, ok }, &out, &log)
		return code, out.String(), log.String()
	}
	const dry = "nothing is written: the WCU are the most that -write takes, on rows up to 1 KB\n"
	for _, tc := range []struct{ args, want string }{
		{"-table=counters", "homeops-response-counters: 10 rows, 10 lack something, 0 left alone; 0 written, 0 changed meanwhile; 2 RCU, 10 WCU, $0.00000697\n" + dry},
		{"-table=counters -write", "homeops-response-counters: 10 rows, 10 lack something, 0 left alone; 10 written, 0 changed meanwhile; 2 RCU, 10 WCU, $0.00000697\n"},
		{"-table=counters -write", "homeops-response-counters: 10 rows, 10 lack something, 0 left alone; 10 written, 0 changed meanwhile; 2 RCU, 10 WCU, $0.00000697\n"},
		{"-table=counters", "homeops-response-counters: 10 rows, 0 lack something, 0 left alone; 0 written, 0 changed meanwhile; 2 RCU, 0 WCU, $0.000000269\n" + dry},
	} {
		if code, out, log := run(env, strings.Fields(tc.args)...); code != 0 || out != tc.want {
			t.Errorf("%s: exit %d\n%s%s", tc.args, code, out, log)
		}
	}
	if _, _, log := run(env, "-table=counters", "-write"); !strings.Contains(log, checkpoint+" says that all is done") {
		t.Errorf("nothing is said of a file that is done: %s", log)
	}
	if code, out, log := run(env, "-table=activities"); code != 0 || !strings.Contains(out, " 10 lack something") || !strings.HasPrefix(log, "homeops-activities: 0 of about 10 rows\n") {
		t.Errorf("activities: exit %d\n%s%s", code, out, log)
	}

	s.at(nil)
	for _, tc := range []struct {
		env  map[string]string
		args string
		want string
	}{
		{nil, "", "DYNAMO_ENDPOINT: must be set if there are no AWS credentials"},
		{map[string]string{"DYNAMO_ENDPOINT": "localhost:8000"}, "", "DYNAMO_ENDPOINT: must be a URL"},
		{map[string]string{"AWS_ACCESS_KEY_ID": "AKIA"}, "", "AWS_ACCESS_KEY_ID: must be set together with AWS_SECRET_ACCESS_KEY"},
		{env, "-table=messages", "-table: must be activities, counters, ledger, phrases or all, is \"messages\""},
		{env, "-segments=0", "-segments: must be 1 to 100, is 0"},
		{env, "-segments=101", "-segments: must be 1 to 100, is 101"},
		{env, "-units=0", "-units: must be 1 to 40000, is 0"},
		{env, "-units=many", "invalid value \"many\" for flag -units"},
		{env, "write", "unexpected argument \"write\""},
		{env, "-table=ledger -write", "-checkpoint: " + checkpoint + " is of another database, other tables or another number of segments"},
	} {
		if code, out, log := run(tc.env, strings.Fields(tc.args)...); code != 2 || out != "" || !strings.HasPrefix(log, tc.want) {
			t.Errorf("%s: exit %d, want %s\n%s%s", tc.args, code, tc.want, out, log)
		}
	}
	if len(s.ops) > 0 {
		t.Errorf("bad input: requests %v", s.ops)
	}
}
