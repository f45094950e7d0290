package run

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
)

const statusToken = "a-token-of-some-length"

const groupMessage = `{"update_id":1,"message":{"message_id":1,"date":%d,"from":{"id":7,"is_bot":false,"first_name":"Eva"},"chat":{"id":-5,"type":"group"},"text":"Diskat"}}`

// -page writes the page, and the report is the same as without it. A replay that
// fails writes nothing.
func TestPageFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "page.html")
	updates := fmt.Sprintf(groupMessage, 1773140000)
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, nil, "", "-page", path, "-updates", "testdata/none"); got.exit != exitFailed {
		t.Errorf("%+v", got)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "before" {
		t.Errorf("a replay that fails leaves %q, %v", text, err)
	}
	want := run(t, nil, updates, "-updates", "-")
	if diff := cmp.Diff(want.out, run(t, nil, updates, "-updates", "-", "-page", path).out); diff != "" {
		t.Errorf("another report with a page:\n%s", diff)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"<bdi>Eva</bdi>", "<bdi>diskning</bdi>", "As of <time datetime=\"2026-03-10T10:53:20Z\">Tuesday 10 March 2026, 11:53</time>", "inside this process", "</html>\n"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%q is not in the page", part)
		}
	}
	if strings.Contains(string(text), "refresh") {
		t.Error("the page is loaded anew, though it is a file")
	}
	sums := regexp.MustCompile(`(?m)^ *all +(\d+) +([\d.]+) +([\d.]+)$`).FindStringSubmatch(want.out)
	if sums == nil || !strings.Contains(string(text), fmt.Sprintf(`<td class="sum">%s</td><td class="sum">%s</td><td class="sum">%s</td>`, sums[1], sums[2], sums[3])) {
		t.Errorf("the report's sums %q are not in the page", sums)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("files: %v, %v", files, err)
	}
	for _, bad := range []string{filepath.Join(folder, "none", "page.html"), folder} {
		if got := run(t, nil, updates, "-updates", "-", "-page", bad); got.exit != exitFailed || !strings.Contains(got.err, "-page: ") {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

// get asks for the status page with a token.
func (s *server) get(path, given string) (*http.Response, string) {
	s.t.Helper()
	return s.getAs("anybody", path, given)
}

func (s *server) getAs(user, path, given string) (*http.Response, string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	if given != "" {
		request.SetBasicAuth(user, given)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	for header, want := range map[string]string{
		"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	} {
		if got := reply.Header.Get(header); got != want && reply.StatusCode != http.StatusNotFound {
			s.t.Errorf("%s: %s is %q", reply.Status, header, got)
		}
	}
	return reply, string(body)
}

// spentOn reads what the page says was spent on the table of aliases and habits.
func spentOn(t *testing.T, page string) (requests int, reads float64) {
	t.Helper()
	row := regexp.MustCompile(`<bdi>homeops</bdi></th><td>(\d+)</td><td>([\d.]+)</td>`).FindStringSubmatch(page)
	if row == nil {
		t.Fatalf("nothing was spent: %s", page)
	}
	if _, err := fmt.Sscan(row[1]+" "+row[2], &requests, &reads); err != nil {
		t.Fatal(err)
	}
	return requests, reads
}

func TestStatusPage(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	inner := dynamotest.NewServer(nil).Handler()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException","message":"secret-detail"}`, http.StatusBadRequest)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer endpoint.Close()
	for name, address := range map[string]string{"embedded": "", "elsewhere": endpoint.URL} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, Program{
				Env:    environment(map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken, "STATUS_TOKEN": statusToken, "DYNAMO_ENDPOINT": address}),
				Ending: Ending{Notice: atOnce, Answer: patience, Empty: patience},
			})
			households(t, s)
			for _, bad := range []string{"", secretToken, statusToken + "x"} {
				reply, body := s.get("/status", bad)
				if reply.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(reply.Header.Get("WWW-Authenticate"), "Basic ") || strings.Contains(body, "<") {
					t.Errorf("%q: %s %q", bad, reply.Status, body)
				}
			}
			s.Log.Until(t, "denied")
			const reloads = `http-equiv="refresh" content="30"`
			live, body := s.get("/status", statusToken)
			if _, still := s.get("/status?still", statusToken); !strings.Contains(body, reloads) || strings.Contains(still, reloads) {
				t.Error("only the page that is not held still is loaded anew")
			}
			if got := live.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
				t.Error(got)
			}
			s.Log.Until(t, `"msg":"depth"`) // the hour's job is begun
			for body = ""; !strings.Contains(body, "<dt>In flight</dt><dd>0</dd>"); {
				_, body = s.get("/status", statusToken)
			}
			_, before := s.get("/status", statusToken)
			_, after := s.get("/status", statusToken)
			if strings.Contains(after, "cost is not known") {
				t.Error("what the start has asked for is counted")
			}
			requests, reads := spentOn(t, before)
			more, read := spentOn(t, after)
			if more-requests != 1 || read-reads != 0.5 { // the list of households, which is empty
				t.Errorf("a page costs %d requests and %g RCU more", more-requests, read-reads)
			}
			if got := s.do(http.MethodPost, "/status", "", ""); got != http.StatusMethodNotAllowed {
				t.Errorf("posted: %d", got)
			}
			if address == "" {
				return
			}
			broken.Store(true)
			reply, body := s.get("/status", statusToken)
			if reply.StatusCode != http.StatusServiceUnavailable || reply.Header.Get("Refresh") != "30" || strings.Contains(body, "secret-detail") {
				t.Errorf("without tables: %s %q", reply.Status, body)
			}
			s.Log.Until(t, "secret-detail")
			broken.Store(false)
		})
	}
}

// households asks for pages of one household. The token of one chat is not another's.
func households(t *testing.T, s *server) {
	t.Helper()
	printed := run(t, map[string]string{"STATUS_TOKEN": statusToken}, "", "token", "-5")
	password, ok := strings.CutPrefix(printed.out, "user -5\npassword ")
	password = strings.TrimSpace(password)
	if !ok || printed.exit != exitOK || len(password) != 32 {
		t.Fatalf("%+v", printed)
	}
	for user, want := range map[string]int{"-5": http.StatusOK, "-6": http.StatusUnauthorized, "": http.StatusUnauthorized} {
		reply, body := s.getAs(user, "/status", password)
		if reply.StatusCode != want || strings.Contains(body, "Dead letters") || strings.Contains(body, "homeops-") {
			t.Errorf("as %q: %s %s", user, reply.Status, body)
		}
	}
	for _, args := range [][]string{{"token", "x"}, {"token", "-05"}, {"token"}} {
		if got := run(t, map[string]string{"STATUS_TOKEN": statusToken}, "", args...); got.exit == exitOK || got.out != "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := run(t, nil, "", "token", "-5"); got.exit != exitFailed || !strings.Contains(got.err, "STATUS_TOKEN") {
		t.Errorf("without the operator's: %+v", got)
	}
}

// Without a token there is no page.
func TestNoStatusPage(t *testing.T) {
	t.Parallel()
	s := startServer(t, Program{
		Env:    environment(map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken}),
		Ending: Ending{Notice: atOnce, Answer: patience, Empty: patience},
	})
	for _, given := range []string{"", " "} {
		if reply, _ := s.get("/status", given); reply.StatusCode != http.StatusNotFound {
			t.Errorf("%q: %s", given, reply.Status)
		}
	}
}
