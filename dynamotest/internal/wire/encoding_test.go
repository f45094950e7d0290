package wire_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

func squeeze(t *testing.T, encoding string, parts ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	for _, part := range parts {
		var w io.WriteCloser = gzip.NewWriter(&buf)
		if encoding == "deflate" {
			w = zlib.NewWriter(&buf)
		}
		if _, err := io.WriteString(w, part); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

// perform sends a request with headers, given in pairs.
func perform(t *testing.T, h http.Handler, method, target string, body []byte, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/", bytes.NewReader(body))
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+target)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A body may be compressed. DynamoDB reports a body that cannot be decompressed
// as a fault of the server, and does nothing.
func TestCompressedRequests(t *testing.T) {
	t.Parallel()
	h := wire.Handler(newEngine(t, nil))
	put := func(id string) string { return fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"S":"%s"}}}`, id) }
	whole := squeeze(t, "gzip", put("x"))
	for name, tt := range map[string]struct {
		encoding string
		body     []byte
		status   int
	}{
		"gzip":           {"gzip", squeeze(t, "gzip", put("a")), 200},
		"deflate":        {"deflate", squeeze(t, "deflate", put("b")), 200},
		"capitals":       {"GZIP", squeeze(t, "gzip", put("c")), 200},
		"two gzips":      {"gzip", squeeze(t, "gzip", put("d")[:10], put("d")[10:]), 200},
		"identity":       {"identity", []byte(put("e")), 200},
		"two deflates":   {"deflate", squeeze(t, "deflate", put("x"), " "), 500},
		"another":        {"garbage", []byte(put("x")), 500},
		"no gzip":        {"gzip", []byte(put("x")), 500},
		"no deflate":     {"deflate", []byte(put("x")), 500},
		"nothing":        {"gzip", nil, 500},
		"half a gzip":    {"gzip", whole[:len(whole)-1], 500},
		"more than that": {"gzip", append(bytes.Clone(whole), "junk"...), 500},
		"a bomb":         {"gzip", squeeze(t, "gzip", strings.Repeat(" ", wire.MaxBody), put("x")), 413},
		"bad gzip":       {"gzip", squeeze(t, "gzip", "{"), 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if w := perform(t, h, "POST", "PutItem", tt.body, "Content-Encoding", tt.encoding); w.Code != tt.status {
				t.Errorf("%d %s, want %d", w.Code, w.Body, tt.status)
			}
		})
	}
	t.Cleanup(func() {
		if w := send(t, h, "POST", "DynamoDB_20120810.Scan", strings.NewReader(`{"TableName":"plain"}`)); !strings.Contains(w.Body.String(), `"Count":5`) {
			t.Errorf("%s", w.Body)
		}
	})
}

// In memory, too.
func TestCompressedInMemory(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://dynamotest.invalid", bytes.NewReader(squeeze(t, "gzip", `{}`)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	r.Header.Set("Content-Encoding", "gzip")
	res, err := wire.Transport{Engine: newEngine(t, nil)}.RoundTrip(r)
	if err != nil || res.StatusCode != 200 {
		t.Errorf("%v %v", res, err)
	}
}

// A long reply is compressed if the client accepts that; a short one is not.
// The checksum is that of the compressed body.
func TestCompressedReplies(t *testing.T) {
	t.Parallel()
	h := wire.Handler(newEngine(t, nil))
	for id, n := range map[string]int{"short": 2048, "long": 5000} {
		put := fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"S":"%s"},"v":{"S":"%s"}}}`, id, strings.Repeat("x", n))
		if w := perform(t, h, "POST", "PutItem", []byte(put)); w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	for _, tt := range []struct{ id, accept, want string }{
		{"long", "gzip", "gzip"},
		{"long", "deflate", "deflate"},
		{"long", "br, deflate;q=0.5, gzip", "deflate"},
		{"long", "gzip;q=0, deflate; q=1", "deflate"},
		{"long", "*", "gzip"},
		{"long", "GZIP", "gzip"},
		{"long", "identity", ""},
		{"long", "gzip;q=x", ""},
		{"long", "", ""},
		{"short", "gzip", ""},
	} {
		w := perform(t, h, "POST", "GetItem", []byte(`{"TableName":"plain","Key":{"id":{"S":"`+tt.id+`"}}}`), "Accept-Encoding", tt.accept)
		if got := w.Header().Get("Content-Encoding"); got != tt.want {
			t.Errorf("%s for %q is %q, want %q", tt.id, tt.accept, got, tt.want)
			continue
		}
		if sum := fmt.Sprint(crc32.ChecksumIEEE(w.Body.Bytes())); sum != w.Header().Get("X-Amz-Crc32") || fmt.Sprint(w.Body.Len()) != w.Header().Get("Content-Length") {
			t.Errorf("%s for %q: %v, %d bytes of sum %s", tt.id, tt.accept, w.Header(), w.Body.Len(), sum)
		}
		var in io.Reader = w.Body
		var err error
		switch tt.want {
		case "gzip":
			in, err = gzip.NewReader(in)
		case "deflate":
			in, err = zlib.NewReader(in)
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(in); err != nil || !strings.HasSuffix(string(text), `xxx"}}}`) {
			t.Errorf("%s for %q: %v %.50s", tt.id, tt.accept, err, text)
		}
	}
}

// Scripts of other sites may use the port, as an SDK in a browser does.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	h := wire.Handler(newEngine(t, nil))
	ask := []string{"Origin", "http://example.com", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "x-amz-target,content-type"}
	w := perform(t, h, "OPTIONS", "ListTables", nil, ask...)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Access-Control-Max-Age": "172800",
		"Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": "x-amz-target,content-type",
	} {
		if got := w.Header().Get(name); w.Code != 200 || got != want {
			t.Errorf("%d, %s is %q, want %q", w.Code, name, got, want)
		}
	}
	w = perform(t, h, "POST", "ListTables", []byte("{}"), ask...)
	if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Access-Control-Expose-Headers") == "" || w.Header().Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("%v", w.Header())
	}
	for _, method := range []string{"OPTIONS", "GET", "POST"} {
		for name := range perform(t, h, method, "ListTables", []byte("{}")).Header() {
			if strings.HasPrefix(name, "Access-Control") {
				t.Errorf("%s without an origin: %s", method, name)
			}
		}
	}
}

// A reply has the type of its request, which is one of two.
func TestBodyTypes(t *testing.T) {
	t.Parallel()
	h := wire.Handler(newEngine(t, nil))
	for kind, want := range map[string]string{
		"application/x-amz-json-1.0":      "application/x-amz-json-1.0",
		"application/x-amz-json-1.0; a=b": "application/x-amz-json-1.0",
		"application/json; charset=utf-8": "application/json",
		"":                                "application/x-amz-json-1.0",
		"text/plain":                      "",
		"application/x-amz-json-1.1":      "",
	} {
		w := perform(t, h, "POST", "ListTables", []byte("{}"), "Content-Type", kind)
		switch {
		case want == "" && (w.Code != 404 || !strings.Contains(w.Body.String(), "Content-Type is application/x-amz-json-1.0")):
			t.Errorf("%q: %d %s", kind, w.Code, w.Body)
		case want != "" && (w.Code != 200 || w.Header().Get("Content-Type") != want || w.Header().Get("Server") == ""):
			t.Errorf("%q: %d %v", kind, w.Code, w.Header())
		}
	}
}
