package powerbitest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// played is a server, its clock, and a client that has logged in, without the
// checks of the real client.
type played struct {
	*powerbitest.Server
	t     *testing.T
	mu    sync.Mutex
	now   time.Time
	token string
}

func play(t *testing.T, cfg powerbitest.Config) *played {
	p := &played{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	cfg.Now = func() time.Time {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.now
	}
	p.Server = powerbitest.New(cfg)
	p.login()
	return p
}

func (p *played) pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
}

func (p *played) login() {
	p.t.Helper()
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {powerbitest.ID}, "client_secret": {powerbitest.Secret},
		"scope": {"https://analysis.windows.net/powerbi/api/.default"},
	}
	var reply struct {
		Token string `json:"access_token"`
	}
	got := p.send("/"+powerbitest.Tenant+"/oauth2/v2.0/token", "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
	if err := json.Unmarshal([]byte(got.body), &reply); err != nil || reply.Token == "" {
		p.t.Fatalf("login: %+v", got)
	}
	p.token = reply.Token
}

type got struct {
	status int
	after  string
	body   string
	err    error
}

func (p *played) send(path, kind string, body io.Reader) got {
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, "https://api.powerbi.com"+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Authorization", "Bearer "+p.token)
	response, err := p.RoundTrip(r)
	if err != nil {
		return got{err: err}
	}
	text, err := io.ReadAll(response.Body)
	return got{response.StatusCode, response.Header.Get("Retry-After"), string(text), err}
}

const datasets = "/v1.0/myorg/groups/" + powerbitest.Workspace + "/datasets"

func (p *played) post(table string, rows ...fact.Row) got {
	text, err := json.Marshal(map[string]any{"rows": rows})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.send(datasets+"/"+powerbitest.Dataset+"/tables/"+table+"/rows", "application/json", bytes.NewReader(text))
}

func (p *played) ask(query string) got {
	text, err := json.Marshal(map[string]any{"queries": []any{map[string]string{"query": query}}})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.send(datasets+"/"+powerbitest.Dataset+"/executeQueries", "application/json", bytes.NewReader(text))
}

const question = `EVALUATE SELECTCOLUMNS(FILTER('Changes', 'Changes'[batch] = "1.1"), "key", 'Changes'[key])`

func rows(n int) []fact.Row {
	made := make([]fact.Row, n)
	for i := range made {
		made[i] = fact.Row{"key": fmt.Sprint("k", i), "batch": "1.1"}
	}
	return made
}

func (p *played) want(what string, g got, status int, after string) {
	p.t.Helper()
	if g.status != status || g.after != after || g.err != nil {
		p.t.Errorf("%s: %d, Retry-After %q, %v: %s; want %d, %q", what, g.status, g.after, g.err, g.body, status, after)
	}
}

// Every limit is exact to the row and to the second, and the server records
// what breaks one.
func TestLimits(t *testing.T) {
	t.Parallel()
	none := sink.Limits{RowsATable: 1 << 30}
	limit := func(change func(*sink.Limits)) powerbitest.Config {
		l := none
		change(&l)
		return powerbitest.Config{Limits: l, TokenLife: 24 * time.Hour}
	}
	t.Run("rows a post", func(t *testing.T) {
		t.Parallel()
		p := play(t, powerbitest.Config{})
		p.want("10,000", p.post(fact.Changes, rows(10_000)...), 200, "")
		p.want("10,001", p.post(fact.Changes, rows(10_001)...), 400, "")
		p.broken("400 InvalidRequest: 10001 rows in a post")
		if n := p.Counts().Rows; n != 10_000 {
			t.Errorf("%d rows", n)
		}
	})
	t.Run("posts a minute", func(t *testing.T) {
		t.Parallel()
		p := play(t, powerbitest.Config{})
		for range 2 {
			for range 60 {
				p.want("60", p.post(fact.Changes, rows(1)...), 200, "")
			}
			p.pass(10_500 * time.Millisecond)
		}
		p.want("the 121st", p.post(fact.Changes, rows(1)...), 429, "39")
		p.pass(38_999 * time.Millisecond)
		p.want("a millisecond early", p.post(fact.Changes, rows(1)...), 429, "1")
		p.pass(time.Millisecond)
		p.want("in time", p.post(fact.Changes, rows(1)...), 200, "")
		p.broken("429 TooManyRequests: over the limit of posts a minute", "429 TooManyRequests: over the limit of posts a minute")
		if n := p.Counts(); n.Rows != 121 || n.Throttled != 2 {
			t.Errorf("%+v", n)
		}
	})
	t.Run("rows an hour", func(t *testing.T) {
		t.Parallel()
		p := play(t, limit(func(l *sink.Limits) { l.RowsAnHour = 10 }))
		p.want("4", p.post(fact.Changes, rows(4)...), 200, "")
		p.pass(time.Minute)
		p.want("6 more", p.post(fact.Communications, rows(6)...), 200, "") // the dataset's
		p.want("1 more", p.post(fact.Changes, rows(1)...), 429, "3540")
		p.want("7 more", p.post(fact.Changes, rows(7)...), 429, "3600")
		p.want("11, ever", p.post(fact.Changes, rows(11)...), 429, "3600")
		p.pass(59 * time.Minute)
		p.want("4 more", p.post(fact.Changes, rows(4)...), 200, "")
		p.want("no more", p.post(fact.Changes, rows(1)...), 429, "60")
		if n := len(p.Violations()); n != 4 {
			t.Errorf("%q", p.Violations())
		}
	})
	t.Run("posts an hour", func(t *testing.T) {
		t.Parallel()
		p := play(t, limit(func(l *sink.Limits) { l.LargeTable, l.PostsAnHour = 5, 3 }))
		for _, n := range []int{1, 1, 2, 1} { // not large before the last of these
			p.want("small", p.post(fact.Changes, rows(n)...), 200, "")
		}
		p.want("large", p.post(fact.Communications, rows(1)...), 429, "3600")
		p.pass(time.Hour)
		for range 3 {
			p.want("an hour later", p.post(fact.Communications, rows(1)...), 200, "")
		}
		p.want("and one more", p.post(fact.Communications, rows(1)...), 429, "3600")
	})
	t.Run("rows a table", func(t *testing.T) {
		t.Parallel()
		p := play(t, limit(func(l *sink.Limits) { l.RowsATable = 5 }))
		p.want("5", p.post(fact.Changes, rows(5)...), 200, "")
		p.want("one more", p.post(fact.Changes, rows(1)...), 400, "")
		p.want("in another", p.post(fact.Contacts, fact.Row{"key": "k"}), 200, "")
		p.broken("400 InvalidRequest: 5 rows in the table, and 1 more")
	})
	t.Run("characters", func(t *testing.T) {
		t.Parallel()
		p := play(t, powerbitest.Config{})
		p.want("4,000", p.post(fact.Changes, fact.Row{"value": strings.Repeat("é", 3_998) + "🙂"}), 200, "")
		p.want("4,001", p.post(fact.Changes, fact.Row{"value": strings.Repeat("é", 3_999) + "🙂"}), 400, "")
		p.broken(`400 InvalidRequest: row 0: column "value" has more than 4000 characters`)
	})
	t.Run("questions a minute", func(t *testing.T) {
		t.Parallel()
		p := play(t, powerbitest.Config{})
		for range 120 {
			p.want("120", p.ask(question), 200, "")
		}
		p.want("the 121st", p.ask(question), 429, "60")
		p.pass(time.Minute)
		p.want("later", p.ask(question), 200, "")
		p.broken("429 TooManyRequests: over the limit of questions a minute")
	})
	t.Run("pending posts", func(t *testing.T) {
		t.Parallel()
		p := play(t, powerbitest.Config{})
		var all sync.WaitGroup
		var bodies []*io.PipeWriter
		for range 5 { // under way as long as their bodies are not whole
			body, w := io.Pipe()
			bodies = append(bodies, w)
			all.Go(func() {
				p.want("pending", p.send(datasets+"/"+powerbitest.Dataset+"/tables/Changes/rows", "application/json", body), 200, "")
			})
			if _, err := io.WriteString(w, `{"rows":[`); err != nil { // it is being read
				t.Fatal(err)
			}
		}
		p.want("the sixth", p.post(fact.Changes, rows(1)...), 429, "1")
		for _, w := range bodies {
			if _, err := io.WriteString(w, `{"key":"k"}]}`); err != nil {
				t.Fatal(err)
			}
			w.Close()
		}
		all.Wait()
		p.want("then", p.post(fact.Changes, rows(1)...), 200, "")
		p.broken("429 TooManyRequests: over the limit of posts are pending")
	})
}

func (p *played) broken(want ...string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.Violations()); diff != "" {
		p.t.Error(diff)
	}
}

// A post with rows of another form is refused as a whole. Blank values are
// accepted.
func TestRows(t *testing.T) {
	t.Parallel()
	good := fact.Row{
		"key": "k", "at": "2026-03-01T12:00:00.000Z", "seconds": json.Number("9007199254740993"), "contact": nil,
	}
	p := play(t, powerbitest.Config{})
	p.want("good", p.post(fact.Communications, good), 200, "")
	p.want("money", p.post(fact.Deals, fact.Row{"amount": json.Number("12.50")}), 200, "")
	for name, bad := range map[string]fact.Row{
		"unknown column":     {"keys": "k"},
		"unknown and blank":  {"keys": nil},
		"number for text":    {"key": 1},
		"text for a number":  {"seconds": "1"},
		"fraction for whole": {"seconds": 1.5},
		"too large":          {"seconds": json.Number("9223372036854775808")},
		"no time":            {"at": "yesterday"},
		"number for a time":  {"at": 1},
		"truth":              {"key": true},
		"object":             {"key": map[string]any{}},
	} {
		p.want(name, p.post(fact.Communications, good, bad), 400, "")
	}
	p.want("text for money", p.post(fact.Deals, fact.Row{"amount": "1"}), 400, "")
	p.want("no table", p.post("Nothing", good), 404, "")
	for _, body := range []string{``, `{`, `[]`, `{"rows":[null]}`, `{"rows":[1]}`, `{"rows":[],"more":1}`, `{"rows":[]} {}`} {
		p.want(body, p.send(datasets+"/"+powerbitest.Dataset+"/tables/Changes/rows", "application/json", strings.NewReader(body)), 400, "")
	}
	p.want("another dataset", p.send(datasets+"/other/tables/Changes/rows", "application/json", strings.NewReader(`{"rows":[]}`)), 404, "")
	p.want("another path", p.send("/v1.0/myorg/datasets", "application/json", strings.NewReader(`{}`)), 404, "")
	if diff := cmp.Diff([]fact.Row{good}, p.Rows(fact.Communications)); diff != "" || p.Rows("Nothing") != nil {
		t.Error(diff)
	}
	if n := len(p.Violations()); n != 10+2+7+2 {
		t.Errorf("%d violations", n)
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	p := play(t, powerbitest.Config{VisibleAfter: 3 * time.Second})
	p.want("posted", p.post(fact.Changes, fact.Row{"key": "k", "batch": "1.1"}, fact.Row{"key": "l", "batch": "1.2"}), 200, "")
	answer := func(rows string) string {
		return "\ufeff" + `{"results":[{"tables":[{"rows":[` + rows + `]}]}]}` + "\n"
	}
	p.pass(2_999 * time.Millisecond)
	if g := p.ask(question); g.body != answer("") {
		t.Errorf("too early: %+v", g)
	}
	p.pass(time.Millisecond)
	if g := p.ask(question); g.body != answer(`{"[key]":"k"}`) {
		t.Errorf("%+v", g)
	}
	for _, query := range []string{
		"", "EVALUATE Changes", question + " ", strings.Replace(question, "'Changes'[key]", "'Deals'[key]", 1),
		strings.ReplaceAll(question, "Changes", "Nothing"), strings.ReplaceAll(question, "Changes", "Contacts"), // has no batch
		strings.Replace(question, "1.1", `1"1`, 1), "EVALUATE " + question,
	} {
		p.want(query, p.ask(query), 400, "")
	}
	p.RefuseAsking(true)
	p.want("refused", p.ask(question), 403, "")
	p.RefuseAsking(false)
	p.want("no longer", p.ask(question), 200, "")
	if n := len(p.Violations()); n != 8 {
		t.Errorf("%q", p.Violations())
	}
}

// Each fault has its effect, in the same process and over a connection.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := play(t, powerbitest.Config{})
	base, stop, err := p.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for i, c := range []struct {
		fault  powerbitest.Fault
		status int // 0: the connection breaks
		rows   int
	}{
		{powerbitest.LoseRequest, 0, 0},
		{powerbitest.LoseReply, 0, 1},
		{powerbitest.Unavailable, 503, 0},
		{powerbitest.UnavailableAfter, 503, 1},
	} {
		before := p.Counts().Rows
		p.OnPost(2*i+1, c.fault)
		p.OnAsk(i+1, c.fault)
		if g := p.post(fact.Changes, rows(1)...); g.status != c.status || (g.err == nil) != (c.status > 0) {
			t.Errorf("%d: %+v", c.fault, g)
		}
		if n := p.Counts().Rows - before; n != c.rows {
			t.Errorf("%d: %d rows", c.fault, n)
		}
		p.OnPost(2*i+2, c.fault)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+datasets+"/"+powerbitest.Dataset+"/tables/Changes/rows", strings.NewReader(`{"rows":[{}]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+p.token)
		response, err := http.DefaultClient.Do(r)
		if (err == nil) != (c.status > 0) || err == nil && response.StatusCode != c.status {
			t.Errorf("%d: %+v, %v", c.fault, response, err)
		}
		if err == nil {
			response.Body.Close()
		}
		if n := p.Counts().Rows - before; n != 2*c.rows {
			t.Errorf("%d: %d rows", c.fault, n)
		}
		if g := p.ask(question); g.status != c.status || (g.err == nil) != (c.status > 0) {
			t.Errorf("%d, asking: %+v", c.fault, g)
		}
	}
	p.want("then", p.post(fact.Changes, rows(1)...), 200, "")
	p.want("and asking", p.ask(question), 200, "")
	if diff := cmp.Diff(powerbitest.Counts{Logins: 1, Posts: 9, Asks: 5, Rows: 5}, p.Counts()); diff != "" {
		t.Error(diff)
	}
	p.broken()
}

func TestTokens(t *testing.T) {
	t.Parallel()
	p := play(t, powerbitest.Config{TokenLife: time.Minute})
	p.Unauthorized(1)
	p.want("told to", p.post(fact.Changes, rows(1)...), 401, "")
	p.want("once", p.post(fact.Changes, rows(1)...), 200, "")
	p.pass(time.Minute)
	p.want("expired", p.post(fact.Changes, rows(1)...), 401, "")
	p.login()
	p.want("another", p.post(fact.Changes, rows(1)...), 200, "")
	p.broken()
	p.token = "token-99"
	p.want("invented", p.post(fact.Changes, rows(1)...), 401, "")
	if n := p.Counts(); n.Posts != 2 || len(p.Violations()) != 1 {
		t.Errorf("%+v, %q", n, p.Violations())
	}
}

func TestCreateIsStrict(t *testing.T) {
	t.Parallel()
	body := func(columns, measures string) string {
		return `{"name":"n","defaultMode":"Push","tables":[{"name":"T","columns":[` + columns + `],"measures":[` + measures + `]}]}`
	}
	key := `{"name":"key","dataType":"String"}`
	many := key
	for i := range 75 {
		many += fmt.Sprintf(`,{"name":"c%d","dataType":"String"}`, i)
	}
	p := play(t, powerbitest.Config{})
	const none = "?defaultRetentionPolicy=None"
	for i, c := range []struct {
		query, body string
		status      int
	}{
		{none, body(key, `{"name":"m","expression":"1"}`), 201},
		{"", body(key, ""), 400},
		{none, strings.Replace(body(key, ""), "Push", "Streaming", 1), 400},
		{none, `{"name":"n","defaultMode":"Push","tables":[]}`, 400},
		{none, body("", ""), 400},
		{none, body(many, ""), 400},
		{none, body(key+","+key, ""), 400},
		{none, body(`{"name":"key","dataType":"Text"}`, ""), 400},
		{none, body(key, `{"name":"key","expression":"1"}`), 400},
		{none, body(key, `{"name":"m","expression":""}`), 400},
		{none, body(key, `{"name":"m","dax":"1"}`), 400},
	} {
		p.want(fmt.Sprint("body ", i), p.send(datasets+c.query, "application/json", strings.NewReader(c.body)), c.status, "")
	}
	if n := len(p.Violations()); n != 10 {
		t.Errorf("%q", p.Violations())
	}
}
