package hubspot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far a request's time may be off, in either direction. HubSpot
// documents it for old requests; a clock may also be ahead.
const Tolerance = 5 * time.Minute

// Verifier checks HubSpot's signatures: v3, and the older ones on request.
type Verifier struct {
	Secret string // the app's client secret

	// PublicURL is the part of this service's URL at HubSpot before the path that
	// arrives here, such as https://hooks.example.com. It has a path of its own if
	// a proxy removes one: HubSpot calls https://example.com/quill/hubspot,
	// /hubspot arrives, and PublicURL is https://example.com/quill. It does not
	// matter how a proxy changes Host and X-Forwarded- headers.
	PublicURL string

	// Versions are the accepted signatures of requests without a v3 signature: v1,
	// v2 or both. A v3 signature is always accepted. The older ones do not sign
	// the time, and v1 does not even sign the URI: anybody who has seen such a
	// request can send it again at any time.
	Versions []string

	Now func() time.Time // defaults to time.Now
}

// These are HubSpot's headers.
const (
	signatureV3 = "X-HubSpot-Signature-v3"
	timestamp   = "X-HubSpot-Request-Timestamp"
	signature   = "X-HubSpot-Signature"
	version     = "X-HubSpot-Signature-Version"
)

// Verify returns nil if the request comes from HubSpot, and otherwise says why not.
// Body is the whole body, because r's own body has already been read. A v3
// signature decides alone: if it is wrong, a right older signature does not count.
func (v Verifier) Verify(r *http.Request, body []byte) error {
	if err := v.VerifyHeaders(r); err != nil {
		return err
	}
	if hasV3(r) {
		mac := hmac.New(sha256.New, []byte(v.Secret))
		mac.Write([]byte(r.Method + decode(v.uri(r))))
		mac.Write(body)
		mac.Write([]byte(r.Header.Get(timestamp)))
		return compare(r.Header.Get(signatureV3), base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	hash := sha256.New()
	switch which := r.Header.Get(version); which {
	case "v1":
		hash.Write([]byte(v.Secret))
	case "v2":
		hash.Write([]byte(v.Secret + r.Method + v.uri(r)))
	default:
		return fmt.Errorf("hubspot: signatures of version %.10q are unknown", which)
	}
	hash.Write(body)
	return compare(r.Header.Get(signature), hex.EncodeToString(hash.Sum(nil)))
}

// VerifyHeaders returns an error if the headers alone show that the request does not
// come from HubSpot, so that nobody need read its body: a signature is missing or
// not accepted, or its time is too far off.
func (v Verifier) VerifyHeaders(r *http.Request) error {
	if v.Secret == "" || v.PublicURL == "" {
		return errors.New("hubspot: the Verifier must have a Secret and a PublicURL")
	}
	if hasV3(r) {
		return v.verifyTime(r)
	}
	if _, err := one(r, signature); err != nil {
		return err
	}
	which, err := one(r, version)
	if err != nil {
		return err
	}
	if !slices.Contains(v.Versions, which) {
		return fmt.Errorf("hubspot: signatures of version %.10q are not accepted", which)
	}
	return nil
}

// hasV3 reports whether a v3 signature decides, even an empty one.
func hasV3(r *http.Request) bool {
	return len(r.Header.Values(signatureV3)) > 0
}

// verifyTime checks the time that a v3 signature signs.
func (v Verifier) verifyTime(r *http.Request) error {
	if _, err := one(r, signatureV3); err != nil {
		return err
	}
	stamp, err := one(r, timestamp)
	if err != nil {
		return err
	}
	ms, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("hubspot: " + timestamp + " must be a time in milliseconds")
	}
	if off := v.now().Sub(time.UnixMilli(ms)); off.Abs() > Tolerance {
		return fmt.Errorf("hubspot: the request's time is %s off: at most %s is accepted", off.Abs().Round(time.Second), Tolerance)
	}
	return nil
}

func (v Verifier) now() time.Time {
	if v.Now != nil {
		return v.Now()
	}
	return time.Now()
}

// one returns the value of a header that must be sent once, because another reader
// may use the second one.
func one(r *http.Request, name string) (string, error) {
	values := r.Header.Values(name)
	if len(values) != 1 {
		return "", fmt.Errorf("hubspot: %s must be sent once, not %d times", name, len(values))
	}
	return values[0], nil
}

// compare takes the same time for every wrong signature of the right length.
func compare(sent, want string) error {
	if !hmac.Equal([]byte(sent), []byte(want)) {
		return errors.New("hubspot: the signature is wrong")
	}
	return nil
}

// uri is the address that HubSpot called, with the bytes that it sent: a parsed
// URL may be written differently.
func (v Verifier) uri(r *http.Request) string {
	target := r.RequestURI
	if !strings.HasPrefix(target, "/") { // made by hand, or for a proxy
		target = r.URL.RequestURI()
	}
	target, _, _ = strings.Cut(target, "#")
	return strings.TrimSuffix(v.PublicURL, "/") + target
}

// decoded are the characters of a query that HubSpot signs unescaped, whether they
// were sent escaped or not.
var decoded = func() *strings.Replacer {
	var pairs []string
	for _, c := range ":/?@!$'()*,;" {
		upper := fmt.Sprintf("%%%02X", c)
		pairs = append(pairs, upper, string(c))
		if lower := strings.ToLower(upper); lower != upper {
			pairs = append(pairs, lower, string(c))
		}
	}
	return strings.NewReplacer(pairs...)
}()

func decode(uri string) string {
	path, query, found := strings.Cut(uri, "?")
	if !found {
		return uri
	}
	return path + "?" + decoded.Replace(query)
}
