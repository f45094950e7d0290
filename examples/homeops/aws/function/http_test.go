package function_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/function"
)

// seen is what a handler sees of a request.
type seen struct {
	Method, Path, Raw, Query, URI, Host, From string
	Header                                    http.Header
	Cookies                                   []string
	Body                                      string
	Length                                    int64
}

// answer is what a handler does, and a client sees.
type answer struct {
	Status  int
	Header  map[string]string
	Cookies []string
	Body    string
}

// echo notes the request, and gives the answer that it has.
func echo(got *seen, want *answer, pieces int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		*got = seen{
			Method: r.Method, Path: r.URL.Path, Raw: r.URL.EscapedPath(), Query: r.URL.RawQuery, URI: r.RequestURI,
			Host: r.Host, From: r.RemoteAddr, Header: r.Header, Body: string(body), Length: r.ContentLength,
		}
		for _, c := range r.Cookies() {
			got.Cookies = append(got.Cookies, c.String())
		}
		for name, value := range want.Header {
			w.Header().Set(name, value)
		}
		for _, c := range want.Cookies {
			w.Header().Add("Set-Cookie", c)
		}
		w.Header().Add("Vary", "A")
		w.Header().Add("Vary", "B")
		if want.Status != 0 {
			w.WriteHeader(http.StatusEarlyHints) // which is not final
			w.WriteHeader(want.Status)
			w.Header().Set("X-Late", "1") // too late to be sent
		}
		for i := range pieces {
			fmt.Fprint(w, want.Body[len(want.Body)*i/pieces:len(want.Body)*(i+1)/pieces])
		}
	})
}

// sent is a request as a client writes it.
type sent struct {
	method, target, body string
	header               map[string]string
	cookies              []string
}

// The handler sees the same request, and the client the same answer, through a
// function URL as through net/http's own server.
func TestHTTPIsLikeAServer(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		request, does, pieces := anyRequest(random), anyAnswer(random), 1+random.IntN(3)
		var there, here seen
		wantAnswer := overServer(t, echo(&there, &does, pieces), request)
		gotAnswer := overFunction(t, echo(&here, &does, pieces), request)
		// Only a server has these.
		there.From, there.Host = here.From, here.Host
		for _, name := range []string{"User-Agent", "Accept-Encoding", "Content-Length"} {
			there.Header.Del(name)
		}
		for _, name := range []string{"Date", "Content-Length"} {
			delete(wantAnswer.Header, name)
		}
		if diff := cmp.Diff(there, here); diff != "" {
			t.Fatalf("%+v:\n%s", request, diff)
		}
		if diff := cmp.Diff(wantAnswer, gotAnswer); diff != "" {
			t.Fatalf("%+v after %+v:\n%s", does, request, diff)
		}
	}
}

func anyOf(random *rand.Rand, all ...string) string { return all[random.IntN(len(all))] }

func anyRequest(random *rand.Rand) sent {
	return sent{
		method: anyOf(random, "GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS"),
		target: anyOf(random, "/", "/telegram", "/a%2Fb/c", "/%C3%A5", "/a//b", "/a;b", "/a b%20c") +
			anyOf(random, "", "?x=1", "?x=1&x=%20&y", "?a=b;c"),
		body: anyOf(random, "", "{}", "hej å", "\x00\xff\xfe", strings.Repeat("long ", 2000)),
		header: map[string]string{
			"X-One": anyOf(random, "1", "a, b", `"q"`), "X-Telegram-Bot-Api-Secret-Token": anyOf(random, "s", "s3cret"),
			"Content-Type": anyOf(random, "application/json", "text/plain"),
		},
		cookies: [][]string{nil, {"a=1"}, {"a=1", "b=2"}}[random.IntN(3)],
	}
}

func anyAnswer(random *rand.Rand) answer {
	does := answer{
		Status: []int{0, 200, 201, 401, 404, 405, 500}[random.IntN(7)], Header: map[string]string{},
		Body: anyOf(random, "", "ok\n", "<html>", "\x00\xff", "å", strings.Repeat("long ", 300)),
	}
	if random.IntN(2) == 0 {
		does.Header["Content-Type"] = anyOf(random, "text/x", "application/json")
	}
	if random.IntN(3) == 0 {
		does.Status, does.Body = anyEmpty[random.IntN(len(anyEmpty))], ""
	}
	if random.IntN(2) == 0 {
		does.Header["Allow"] = "POST"
		does.Cookies = []string{"a=1; Path=/", "b=2"}
	}
	return does
}

var anyEmpty = []int{http.StatusNoContent, http.StatusFound}

func overServer(t *testing.T, handler http.Handler, in sent) answer {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	target, err := url.Parse(server.URL + in.target)
	if err != nil {
		t.Fatal(err)
	}
	request := &http.Request{Method: in.method, URL: target, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(in.body)), ContentLength: int64(len(in.body))}
	if in.body == "" {
		request.Body = nil
	}
	for name, value := range in.header {
		request.Header.Set(name, value)
	}
	if len(in.cookies) > 0 {
		request.Header.Set("Cookie", strings.Join(in.cookies, "; "))
	}
	response, err := server.Client().Transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := answer{Status: response.StatusCode, Header: map[string]string{}, Body: string(body), Cookies: response.Header.Values("Set-Cookie")}
	for name, values := range response.Header {
		if name != "Set-Cookie" {
			out.Header[name] = strings.Join(values, ", ")
		}
	}
	return out
}

func overFunction(t *testing.T, handler http.Handler, in sent) answer {
	t.Helper()
	target, err := url.Parse("https://x" + in.target)
	if err != nil {
		t.Fatal(err)
	}
	event := events.APIGatewayV2HTTPRequest{
		RawPath: target.EscapedPath(), RawQueryString: target.RawQuery, Cookies: in.cookies,
		Headers: map[string]string{"host": "abc.on.aws"},
		Body:    base64.StdEncoding.EncodeToString([]byte(in.body)), IsBase64Encoded: true,
	}
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.SourceIP = in.method, "2001:db8::1"
	for name, value := range in.header {
		event.Headers[strings.ToLower(name)] = value
	}
	response, err := function.HTTP(handler)(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	body := response.Body
	if response.IsBase64Encoded {
		text, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			t.Fatal(err)
		}
		body = string(text)
	}
	return answer{Status: response.StatusCode, Header: maps.Clone(response.Headers), Cookies: slices.Clone(response.Cookies), Body: body}
}

func TestHTTPRequest(t *testing.T) {
	t.Parallel()
	var got seen
	in := events.APIGatewayV2HTTPRequest{RawPath: "/bad%zz", RawQueryString: "a=%zz", Body: "hej", Headers: map[string]string{"x-a": "1,2"}}
	in.RequestContext.DomainName = "abc.on.aws"
	in.RequestContext.HTTP.Method, in.RequestContext.HTTP.SourceIP = "POST", "2001:db8::1"
	if out, err := function.HTTP(echo(&got, &answer{}, 1))(t.Context(), in); err != nil || out.StatusCode != 200 {
		t.Fatal(out, err)
	}
	want := seen{
		Method: "POST", Path: "/bad%zz", Raw: "/bad%25zz", Query: "a=%zz", URI: "/bad%25zz?a=%zz", Host: "abc.on.aws",
		From: "[2001:db8::1]:0", Header: http.Header{"X-A": {"1,2"}}, Body: "hej", Length: 3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHTTPRefusesWhatIsNoRequest(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*events.APIGatewayV2HTTPRequest){
		"method": func(in *events.APIGatewayV2HTTPRequest) { in.RequestContext.HTTP.Method = "NO METHOD" },
		"base64": func(in *events.APIGatewayV2HTTPRequest) { in.Body, in.IsBase64Encoded = "{}", true },
	} {
		var in events.APIGatewayV2HTTPRequest
		change(&in)
		handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Errorf("%s: handled", name) })
		out, err := function.HTTP(handler)(t.Context(), in)
		if err != nil || out.StatusCode != http.StatusBadRequest || !strings.Contains(out.Body, name) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// The handler is told to end while there is time to say what failed.
func TestHTTPEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began := time.Now()
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.WriteHeader(http.StatusInternalServerError)
		})
		out, err := function.HTTP(handler)(ctx, events.APIGatewayV2HTTPRequest{})
		if took := time.Since(began); err != nil || out.StatusCode != http.StatusInternalServerError || took != 30*time.Second-function.Margin {
			t.Errorf("%+v, %v after %v", out, err, took)
		}
	})
}
