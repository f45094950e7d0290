package wire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

// post sends a request as it is.
func post(t *testing.T, server *httptest.Server, target string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", target)
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// serving starts a server that must still answer at the end of the test.
func serving(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(wire.Handler(newEngine(t, nil)))
	t.Cleanup(server.Close)
	return server
}

func stillAnswers(t *testing.T, server *httptest.Server) {
	t.Helper()
	status, body := post(t, server, "DynamoDB_20120810.PutItem", strings.NewReader(`{"TableName":"plain","Item":{"id":{"S":"alive"}}}`))
	if status != http.StatusOK {
		t.Errorf("afterwards: %d %s", status, body)
	}
}

func TestHostileBodies(t *testing.T) {
	t.Parallel()
	const deep = 1_000_000
	put := func(value string) string {
		return `{"TableName":"plain","Item":{"id":{"S":"x"},"v":` + value + `}}`
	}
	query := func(condition string) string {
		return `{"TableName":"plain","KeyConditionExpression":"` + condition + `"}`
	}
	statement := func(text string) string { return `{"Statement":"` + text + `"}` }
	for name, req := range map[string]struct{ op, body string }{
		"deep lists":          {"PutItem", put(strings.Repeat(`{"L":[`, deep))},
		"deep maps":           {"PutItem", put(strings.Repeat(`{"M":{"a":`, deep) + `{"S":""}` + strings.Repeat("}}", deep))},
		"deep arrays":         {"PutItem", strings.Repeat("[", deep)},
		"deep unknown member": {"PutItem", `{"unknown":` + strings.Repeat(`{"a":`, deep) + `}`},
		"deep parentheses":    {"Query", query(strings.Repeat("(", deep))},
		"deep negation":       {"Query", query(strings.Repeat("NOT ", deep) + "a")},
		"deep functions":      {"Query", query(strings.Repeat("size(", deep))},
		"deep path":           {"Query", query(strings.Repeat("a.", deep))},
		"deep index":          {"Query", query("a" + strings.Repeat("[0]", deep))},
		"deep statement":      {"ExecuteStatement", statement("INSERT INTO plain VALUE " + strings.Repeat("{'a':[", deep))},
		"deep where":          {"ExecuteStatement", statement("SELECT * FROM plain WHERE " + strings.Repeat("(", deep))},
		"long number":         {"PutItem", put(`{"N":"` + strings.Repeat("9", deep) + `"}`)},
		"huge exponent":       {"PutItem", put(`{"N":"1E` + strings.Repeat("9", deep) + `"}`)},
		"huge index":          {"Query", query("a[" + strings.Repeat("9", deep) + "] = :v")},
		"huge limit":          {"Scan", `{"TableName":"plain","Limit":` + strings.Repeat("9", deep) + `}`},
		"invalid UTF-8":       {"PutItem", put("{\"S\":\"\xff\xfe\"}")},
		"half a pair":         {"PutItem", put(`{"S":"\ud800"}`)},
		"a zero byte":         {"PutItem", "\x00"},
		"nothing":             {"PutItem", ""},
		"two documents":       {"PutItem", put(`{"S":"a"}`) + `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serving(t)
			if status, body := post(t, server, "DynamoDB_20120810."+req.op, strings.NewReader(req.body)); status != http.StatusBadRequest {
				t.Errorf("%d %.200s", status, body)
			}
			stillAnswers(t, server)
		})
	}
}

// A request that breaks off at any byte is refused.
func TestTruncatedBodies(t *testing.T) {
	t.Parallel()
	server := serving(t)
	whole := `{"TableName":"plain","Item":{"id":{"S":"é\u00e9"},"l":{"L":[{"N":"-1.5e3"},{"NULL":true}]},"s":{"SS":["a"]}},"ConditionExpression":"attribute_exists(id)"}`
	for end := range len(whole) {
		if status, body := post(t, server, "DynamoDB_20120810.PutItem", strings.NewReader(whole[:end])); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", whole[:end], status, body)
		}
	}
	stillAnswers(t, server)
}

// A body with an absurdly large declared length is refused before any of it has
// come.
func TestAbsurdlyLongBody(t *testing.T) {
	t.Parallel()
	server := serving(t)
	head := "POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\nContent-Length: 10000000000\r\n\r\n"
	if reply := raw(t, server, head); !strings.HasPrefix(reply, "HTTP/1.1 413 ") {
		t.Errorf("%.100q", reply)
	}
	stillAnswers(t, server)
}

func TestEndlessBody(t *testing.T) {
	t.Parallel()
	server := serving(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, endless{})
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
	// The server may close the connection before the client has read the
	// answer.
	res, err := server.Client().Do(req)
	if err == nil {
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Error(res.Status)
		}
		res.Body.Close()
	}
	stillAnswers(t, server)
}

func TestWrongHeaders(t *testing.T) {
	t.Parallel()
	server := serving(t)
	for _, target := range []string{"", ".", "DynamoDB_20120810", "DynamoDB_20120810.", "DynamoDB_20120810.Nothing", "DynamoDB_19700101.PutItem", "DynamoDBStreams_20120810.PutItem", strings.Repeat("A.", 10_000)} {
		if status, body := post(t, server, target, strings.NewReader("{}")); status != http.StatusBadRequest {
			t.Errorf("%.40s: %d %s", target, status, body)
		}
	}
	for _, head := range []string{
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n",
		"\x16\x03\x01\x02\x00\x01", // a TLS handshake
	} {
		reply := raw(t, server, head)
		if !strings.HasPrefix(reply, "HTTP/1.1 400 ") {
			t.Errorf("%q: %.100q", head, reply)
		}
	}
	stillAnswers(t, server)
}

// A header, or an address, of more than 16 KB is refused.
func TestLongHeaders(t *testing.T) {
	t.Parallel()
	server := serving(t)
	for _, tt := range []struct{ address, header, want int }{{0, 15, 200}, {15, 0, 200}, {0, 16, 400}, {16, 0, 400}, {8, 8, 400}} {
		head := fmt.Sprintf("GET /?%s HTTP/1.1\r\nHost: x\r\nX-Long: %s\r\n\r\n", strings.Repeat("a", tt.address<<10), strings.Repeat("h", tt.header<<10))
		if reply := raw(t, server, head); !strings.HasPrefix(reply, fmt.Sprintf("HTTP/1.1 %d ", tt.want)) {
			t.Errorf("an address of %d KB and a header of %d KB: %.100q, want %d", tt.address, tt.header, reply, tt.want)
		}
	}
	stillAnswers(t, server)
}

// raw sends bytes, closes its side of the connection, and returns the answer.
func raw(t *testing.T, server *httptest.Server, bytes string) string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, bytes); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	reply, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(reply)
}

// Long replies that were read do not count as waiting: a client can get more bytes
// than the limit, one reply after the other.
func TestLongRepliesThatAreRead(t *testing.T) {
	t.Parallel()
	server := serving(t)
	server.Client().Transport.(*http.Transport).DisableCompression = true
	const items = 40
	keys := make([]string, items)
	for i := range items {
		keys[i] = fmt.Sprintf(`{"id":{"S":"%d"}}`, i)
		item := fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"S":"%d"},"v":{"S":"%s"}}}`, i, strings.Repeat("x", 400_000))
		if status, body := post(t, server, "DynamoDB_20120810.PutItem", strings.NewReader(item)); status != http.StatusOK {
			t.Fatalf("%d %.100s", status, body)
		}
	}
	batch := `{"RequestItems":{"plain":{"Keys":[` + strings.Join(keys, ",") + `]}}}`
	for range 256<<20/(items*400_000) + 1 {
		if status, body := post(t, server, "DynamoDB_20120810.BatchGetItem", strings.NewReader(batch)); status != http.StatusOK {
			t.Fatalf("%d %.100s", status, body)
		}
	}
}

// The request of a client that goes away in the middle of it has no effect.
// That of a client that goes away before the reply may have taken effect.
func TestClientGoesAway(t *testing.T) {
	t.Parallel()
	server := serving(t)
	body := `{"TableName":"plain","Item":{"id":{"S":"gone"}}}`
	for range 50 {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:20])
		if err = errors.Join(err, conn.Close()); err != nil {
			t.Fatal(err)
		}
	}
	status, reply := post(t, server, "DynamoDB_20120810.GetItem", strings.NewReader(`{"TableName":"plain","Key":{"id":{"S":"gone"}}}`))
	if status != http.StatusOK || reply != "{}" {
		t.Errorf("half a request took effect: %d %s", status, reply)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Client().Do(req); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	stillAnswers(t, server)
}

// A request of millions of entries is refused before they are compared with one
// another, because that would hold up everybody else.
func TestMillionsOfEntries(t *testing.T) {
	t.Parallel()
	server := serving(t)
	for name, req := range map[string]struct{ op, open, each, end, want string }{
		"tags":    {"TagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/plain","Tags":[`, `{"Key":"%d","Value":""}`, `]}`, "Number of Tags exceed"},
		"actions": {"TransactWriteItems", `{"TransactItems":[`, `{"Put":{}}`, `]}`, "less than or equal to 100"},
		"names":   {"GetItem", `{"TableName":"plain","Key":{"id":{"S":"x"}},"ExpressionAttributeNames":{`, `"#%d":"a"`, `}}`, "maximum of 2097152 bytes"},
	} {
		var body strings.Builder
		body.WriteString(req.open)
		for i := 0; body.Len() < 15<<20; i++ {
			if i > 0 {
				body.WriteByte(',')
			}
			if strings.Contains(req.each, "%d") {
				fmt.Fprintf(&body, req.each, i)
			} else {
				body.WriteString(req.each)
			}
		}
		body.WriteString(req.end)
		status, reply := post(t, server, "DynamoDB_20120810."+req.op, strings.NewReader(body.String()))
		if status != http.StatusBadRequest || !strings.Contains(reply, req.want) || len(reply) > 10_000 {
			t.Errorf("%s: %d %.300s", name, status, reply)
		}
	}
	stillAnswers(t, server)
}
