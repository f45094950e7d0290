package hubspot_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
)

const (
	secret = "test-client-secret"
	stamp  = "1795240801000"
	// signed is the signed body of the vector for v3, and the URI that HubSpot
	// calls for it.
	signed    = `[{"eventId":4108526299,"subscriptionId":25,"portalId":62515,"appId":54321,"occurredAt":1795240800123,"subscriptionType":"contact.propertyChange","attemptNumber":0,"objectId":123,"propertyName":"lifecyclestage","propertyValue":"customer","changeSource":"CRM_UI","isSensitive":false}]`
	signature = "BjY2CpuDZt8q9/IxJRm8Xyu5QAGdtVwHvQ1gz56l3+8="
	target    = "/hubspot?env=a%2Fb"
)

var sent = time.UnixMilli(1795240801000)

// verifier returns a Verifier with the sender's clock.
func verifier(versions ...string) hubspot.Verifier {
	return hubspot.Verifier{
		Secret: secret, PublicURL: "https://hooks.example.com", Versions: versions,
		Now: func() time.Time { return sent },
	}
}

func request(target string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func requestV3(target, signature string) *http.Request {
	return request(target, "X-HubSpot-Signature-v3", signature, "X-HubSpot-Request-Timestamp", stamp)
}

// sign is v3 by HMAC's definition (RFC 2104), without crypto/hmac.
func sign(secret, text string) string {
	const block = 64
	key := []byte(secret)
	if len(key) > block {
		sum := sha256.Sum256(key)
		key = sum[:]
	}
	key = append(key, make([]byte, block-len(key))...)
	pad := func(with byte) []byte {
		padded := bytes.Clone(key)
		for i := range padded {
			padded[i] ^= with
		}
		return padded
	}
	inner := sha256.Sum256(append(pad(0x36), text...))
	outer := sha256.Sum256(append(pad(0x5c), inner[:]...))
	return base64.StdEncoding.EncodeToString(outer[:])
}

func TestSignatureV3(t *testing.T) {
	t.Parallel()
	if got := sign(secret, "POSThttps://hooks.example.com/hubspot?env=a/b"+signed+stamp); got != signature {
		t.Fatalf("the vector is %s by the definition of HMAC", got)
	}
	if err := verifier().Verify(requestV3(target, signature), []byte(signed)); err != nil {
		t.Error(err)
	}
	for i := range signed {
		changed := []byte(signed)
		changed[i] ^= 1
		if verifier().Verify(requestV3(target, signature), changed) == nil {
			t.Fatalf("byte %d of the body changed: accepted", i)
		}
	}
	for name, break_ := range map[string]func(*hubspot.Verifier, *http.Request){
		"another secret":     func(v *hubspot.Verifier, _ *http.Request) { v.Secret += "x" },
		"no secret":          func(v *hubspot.Verifier, _ *http.Request) { v.Secret = "" },
		"another public URL": func(v *hubspot.Verifier, _ *http.Request) { v.PublicURL = "https://other.example.com" },
		"no public URL":      func(v *hubspot.Verifier, _ *http.Request) { v.PublicURL = "" },
		"another method":     func(_ *hubspot.Verifier, r *http.Request) { r.Method = http.MethodPut },
		"another path":       func(_ *hubspot.Verifier, r *http.Request) { r.RequestURI = "/Hubspot?env=a%2Fb" },
		"another query":      func(_ *hubspot.Verifier, r *http.Request) { r.RequestURI = "/hubspot?env=a%2Fc" },
		"no query":           func(_ *hubspot.Verifier, r *http.Request) { r.RequestURI = "/hubspot" },
		"another time": func(_ *hubspot.Verifier, r *http.Request) {
			r.Header.Set("X-HubSpot-Request-Timestamp", "1795240801001")
		},
		"a time in seconds":     func(_ *hubspot.Verifier, r *http.Request) { r.Header.Set("X-HubSpot-Request-Timestamp", "now") },
		"no time":               func(_ *hubspot.Verifier, r *http.Request) { r.Header.Del("X-HubSpot-Request-Timestamp") },
		"two times":             func(_ *hubspot.Verifier, r *http.Request) { r.Header.Add("X-HubSpot-Request-Timestamp", stamp) },
		"two signatures":        func(_ *hubspot.Verifier, r *http.Request) { r.Header.Add("X-HubSpot-Signature-v3", signature) },
		"an empty signature":    func(_ *hubspot.Verifier, r *http.Request) { r.Header.Set("X-HubSpot-Signature-v3", "") },
		"a part of a signature": func(_ *hubspot.Verifier, r *http.Request) { r.Header.Set("X-HubSpot-Signature-v3", signature[:20]) },
		"no signature":          func(_ *hubspot.Verifier, r *http.Request) { r.Header.Del("X-HubSpot-Signature-v3") },
	} {
		v, r := verifier(), requestV3(target, signature)
		break_(&v, r)
		if v.Verify(r, []byte(signed)) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// An empty secret or URL cannot be used to sign.
func TestNothingIsAcceptedWithoutASecretOrAURL(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{"Secret", "PublicURL"} {
		v := verifier("v1", "v2")
		if missing == "Secret" {
			v.Secret = ""
		} else {
			v.PublicURL = ""
		}
		uri := v.PublicURL + "/hubspot"
		requests := []*http.Request{requestV3("/hubspot", sign(v.Secret, "POST"+uri+signed+stamp))}
		for version, text := range map[string]string{"v1": v.Secret + signed, "v2": v.Secret + "POST" + uri + signed} {
			sum := sha256.Sum256([]byte(text))
			requests = append(requests, request("/hubspot", "X-HubSpot-Signature", hex.EncodeToString(sum[:]), "X-HubSpot-Signature-Version", version))
		}
		for i, r := range requests {
			if v.Verify(r, []byte(signed)) == nil {
				t.Errorf("request %d without a %s: accepted", i, missing)
			}
		}
	}
}

func TestWhatAProxyChangesDoesNotMatter(t *testing.T) {
	t.Parallel()
	r := requestV3(target, signature)
	r.Host, r.URL.Host, r.URL.Scheme = "10.0.0.7:8080", "10.0.0.7:8080", "http"
	r.Header.Set("X-Forwarded-Host", "evil.example.com")
	r.Header.Set("X-Forwarded-Proto", "http")
	if err := verifier().Verify(r, []byte(signed)); err != nil {
		t.Error(err)
	}
	// A router's change of the path does not matter either.
	http.StripPrefix("/hub", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := verifier().Verify(r, []byte(signed)); err != nil || r.URL.Path != "spot" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
	})).ServeHTTP(httptest.NewRecorder(), r)
	// Host and X-Forwarded-Host are not trusted either.
	r = requestV3(target, sign(secret, "POSThttps://evil.example.com/hubspot?env=a/b"+signed+stamp))
	r.Host = "evil.example.com"
	r.Header.Set("X-Forwarded-Host", "evil.example.com")
	if verifier().Verify(r, []byte(signed)) == nil {
		t.Error("signed for another host: accepted")
	}
}

// A real proxy removes a prefix and calls the service by another name.
func TestBehindAProxy(t *testing.T) {
	t.Parallel()
	v := verifier()
	v.PublicURL = "https://example.com/quill"
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Host == "example.com" {
			t.Errorf("%s: %v", r.Host, err)
		}
		if err := v.Verify(r, body); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
		}
	}))
	defer service.Close()
	inside, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(inside)
		r.SetXForwarded()
	}}
	proxy := httptest.NewServer(http.StripPrefix("/quill", forward))
	defer proxy.Close()
	for target, want := range map[string]int{"/quill/hubspot?env=a%2Fb&x=%20": http.StatusOK, "/quill/hubspot?env=a%2Fc&x=%20": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, proxy.URL+target, strings.NewReader(signed))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "example.com"
		r.Header.Set("X-HubSpot-Signature-v3", sign(secret, "POSThttps://example.com/quill/hubspot?env=a/b&x=%20"+signed+stamp))
		r.Header.Set("X-HubSpot-Request-Timestamp", stamp)
		response, err := proxy.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != want {
			t.Errorf("%s: status %d", target, response.StatusCode)
		}
	}
}

func TestTimestamps(t *testing.T) {
	t.Parallel()
	for off, accepted := range map[time.Duration]bool{
		0: true, hubspot.Tolerance: true, -hubspot.Tolerance: true,
		hubspot.Tolerance + time.Millisecond: false, -hubspot.Tolerance - time.Millisecond: false,
		6 * time.Minute: false, -6 * time.Minute: false, 200 * 365 * 24 * time.Hour: false,
	} {
		v := verifier()
		v.Now = func() time.Time { return sent.Add(off) }
		if err := v.Verify(requestV3(target, signature), []byte(signed)); (err == nil) != accepted {
			t.Errorf("%s after the request: %v", off, err)
		}
	}
	v := verifier()
	v.Now = func() time.Time { return sent.Add(6 * time.Minute) }
	const want = "hubspot: the request's time is 6m0s off: at most 5m0s is accepted"
	if err := v.Verify(requestV3(target, signature), []byte(signed)); err == nil || err.Error() != want {
		t.Error(err)
	}
	for _, far := range []string{"9223372036854775807", "-9223372036854775808", "0"} {
		r := request(target, "X-HubSpot-Signature-v3", sign(secret, "POSThttps://hooks.example.com/hubspot?env=a/b"+signed+far), "X-HubSpot-Request-Timestamp", far)
		if verifier().Verify(r, []byte(signed)) == nil {
			t.Errorf("the time %s: accepted", far)
		}
	}
	v.Now = nil // the machine's clock, far from the vector's
	if v.Verify(requestV3(target, signature), []byte(signed)) == nil {
		t.Error("years old: accepted")
	}
}

func TestTheURIThatIsSigned(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ public, target, uri string }{
		{"https://hooks.example.com", "/hubspot", "https://hooks.example.com/hubspot"},
		{"https://hooks.example.com/", "/hubspot", "https://hooks.example.com/hubspot"},
		{"https://example.com/quill", "/hubspot?a=1", "https://example.com/quill/hubspot?a=1"},
		{"https://hooks.example.com", "/hubspot?", "https://hooks.example.com/hubspot?"},
		{"https://hooks.example.com", "/hubspot#part", "https://hooks.example.com/hubspot"},
		{"https://hooks.example.com", "/hub%2Fspot?a=%2F", "https://hooks.example.com/hub%2Fspot?a=/"},
		{"https://hooks.example.com", "/hub\"spot?a", "https://hooks.example.com/hub\"spot?a"},
		{
			"https://hooks.example.com", "/hubspot?q=%3A%2F%3F%40%21%24%27%28%29%2A%2C%3B",
			"https://hooks.example.com/hubspot?q=:/?@!$'()*,;",
		},
		{"https://hooks.example.com", "/hubspot?q=%3a%2f%3f%2a%2c%3b", "https://hooks.example.com/hubspot?q=:/?*,;"},
		{"https://hooks.example.com", "/hubspot?q=%20%26%3D%25%2B%23+", "https://hooks.example.com/hubspot?q=%20%26%3D%25%2B%23+"},
		{"https://hooks.example.com", "/hubspot?q=%253A%25%33A", "https://hooks.example.com/hubspot?q=%253A%25%33A"},
		{"https://hooks.example.com", "/hubspot?b=2&a=1&a=", "https://hooks.example.com/hubspot?b=2&a=1&a="},
	} {
		v := verifier()
		v.PublicURL = test.public
		r := requestV3("/", sign(secret, "POST"+test.uri+signed+stamp))
		r.RequestURI = test.target
		if err := v.Verify(r, []byte(signed)); err != nil {
			t.Errorf("%s: %v", test.target, err)
		}
	}
	// The target of a request may name a host, as for a proxy.
	if err := verifier().Verify(requestV3("http://127.0.0.1:8080"+target, signature), []byte(signed)); err != nil {
		t.Error(err)
	}
}

// These are HubSpot's own vectors.
func TestOlderSignatures(t *testing.T) {
	t.Parallel()
	const (
		body1 = `[{"eventId":1,"subscriptionId":12345,"portalId":62515,"occurredAt":1564113600000,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123,"changeSource":"CRM","changeFlag":"NEW","appId":54321}]`
		body2 = `{"example_field":"example_value"}`
		v1    = "232db2615f3d666fe21a8ec971ac7b5402d33b9a925784df3ca654d05f4817de"
		v2    = "9569219f8ba981ffa6f6f16aa0f48637d35d728c7e4d93d0d52efaa512af7900"
		v2Get = "eee2dddcc73c94d699f5e395f4b9d454a069a6855fbfa152e91e88823087200e"
	)
	for _, test := range []struct {
		method, version, signature, body string
		versions                         []string
		accepted                         bool
	}{
		{"POST", "v1", v1, body1, []string{"v1"}, true},
		{"POST", "v2", v2, body2, []string{"v2"}, true},
		{"GET", "v2", v2Get, "", []string{"v1", "v2"}, true},
		{"POST", "v1", v1, body1, nil, false},
		{"POST", "v1", v1, body1, []string{"v2"}, false},
		{"POST", "v2", v2, body2, nil, false},
		{"POST", "v2", v2, body2, []string{"v1"}, false},
		{"POST", "v1", v2, body2, []string{"v1", "v2"}, false},
		{"POST", "v2", v1, body1, []string{"v1", "v2"}, false},
		{"POST", "v1", v1, body1 + " ", []string{"v1"}, false},
		{"POST", "v2", v2, body2 + " ", []string{"v2"}, false},
		{"PUT", "v2", v2, body2, []string{"v2"}, false},
		{"POST", "v2", "", body2, []string{"v2"}, false},
		{"POST", "v2", strings.ToUpper(v2), body2, []string{"v2"}, false},
		{"POST", "", v1, body1, []string{"v1"}, false},
		{"POST", "v3", v1, body1, []string{"v1", "v3"}, false},
	} {
		v := hubspot.Verifier{Secret: "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy", PublicURL: "https://www.example.com", Versions: test.versions}
		r := request("/webhook_uri", "X-HubSpot-Signature", test.signature, "X-HubSpot-Signature-Version", test.version)
		r.Method = test.method
		if err := v.Verify(r, []byte(test.body)); (err == nil) != test.accepted {
			t.Errorf("%s %s, accepting %v: %v", test.version, test.signature, test.versions, err)
		}
		for _, again := range []string{"X-HubSpot-Signature", "X-HubSpot-Signature-Version"} {
			twice := r.Clone(t.Context())
			twice.Header.Add(again, r.Header.Get(again))
			if v.Verify(twice, []byte(test.body)) == nil {
				t.Errorf("%s: %s twice: accepted", test.version, again)
			}
			twice.Header.Del(again)
			if v.Verify(twice, []byte(test.body)) == nil {
				t.Errorf("%s: no %s: accepted", test.version, again)
			}
		}
	}
}

func TestV3DecidesAlone(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte(secret + signed))
	for _, v3 := range []string{signature, "", "x"} {
		r := requestV3(target, v3)
		r.Header.Set("X-HubSpot-Signature", hex.EncodeToString(sum[:]))
		r.Header.Set("X-HubSpot-Signature-Version", "v1")
		if err := verifier("v1", "v2").Verify(r, []byte(signed)); (err == nil) != (v3 == signature) {
			t.Errorf("v3 %q beside a right v1: %v", v3, err)
		}
		r.Header.Del("X-HubSpot-Signature-v3")
		if err := verifier("v1", "v2").Verify(r, []byte(signed)); err != nil {
			t.Errorf("v1 alone: %v", err)
		}
	}
}
