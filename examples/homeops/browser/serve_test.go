package browser

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/run"
	"github.com/homeops/ddbpatterns/examples/internal/serving/servingtest"
)

const token = "a-token-of-some-length"

// TestServe looks at the page of a service. With the token it is shown as designed,
// under a policy that allows nothing else, and it reloads itself unless asked to be
// still.
func TestServe(t *testing.T) {
	s := servingtest.Start(t, func(ctx context.Context, out, err io.Writer) int {
		env := environment(map[string]string{"TELEGRAM_SECRET_TOKEN": "s3cret", "STATUS_TOKEN": token, "QUIET_HOURS": "never"})
		return run.Program{Args: []string{"-serve", "127.0.0.1:0", "-log", "json"}, Env: env, Out: out, Err: err}.Run(ctx)
	})
	address := strings.Replace(s.URL, "http://", "http://x:"+token+"@", 1) + "/status"
	update := fmt.Sprintf(`{"update_id":1,"message":{"message_id":1,"date":%d,"from":{"id":7,"is_bot":false,"first_name":"Eva"},"chat":{"id":-5,"type":"group"},"text":"Diskat"}}`, time.Now().Unix())
	if reply := request(t, http.MethodPost, s.URL+"/telegram", update, "X-Telegram-Bot-Api-Secret-Token", "s3cret"); reply != "" {
		t.Fatal(reply)
	}
	waited, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !strings.Contains(request(t, http.MethodGet, s.URL+"/status", "", "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("x:"+token))), "<bdi>diskning</bdi>") {
		if waited.Err() != nil {
			t.Fatal("the page never shows what was done")
		}
	}
	b := open(t, windows[0], address)
	b.looksRight()
	for title, table := range b.tables() {
		if strings.HasPrefix(title, "This week") && table["diskning"]["Eva"] != "1" {
			t.Errorf("%v", table)
		}
		if n := table["homeops-activities"]["Write units"]; title == "Cost by table" && n != "4" { // the row and three indexes
			t.Errorf("an activity took %s WCU", n)
		}
	}
	refresh := `[...document.querySelectorAll("meta[http-equiv=refresh]")].map(e => e.content)`
	if diff := cmp.Diff([]string{"30"}, ask[[]string](b, refresh)); diff != "" {
		t.Error(diff)
	}
	if radius := ask[string](b, `getComputedStyle(document.querySelector(".card")).borderRadius`); radius != "12px" {
		t.Errorf("the policy keeps the page's own style out: a radius of %q", radius)
	}
	if got := ask[string](b, `document.querySelector("header a").href`); !strings.HasSuffix(got, "/status?still") {
		t.Errorf("held still by %s", got)
	}
	b.shoot("serve")
	if still := ask[[]string](open(t, windows[0], address+"?still"), refresh); len(still) != 0 {
		t.Errorf("loaded anew in %s", still)
	}
	if got := request(t, http.MethodGet, s.URL+"/status", "", "Authorization", "Basic of bad news"); got != "wrong or missing token\n" {
		t.Errorf("without the token: %s", got)
	}
}

// request returns the body of the answer.
func request(t *testing.T, method, url, body, header, value string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(header, value)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
