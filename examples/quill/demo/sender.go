package demo

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
)

// Secrets are what both sides know.
type Secrets struct {
	AlowareUser, AlowarePassword string
	HubSpot                      string
	PublicURL                    string // HubSpot signs it
}

// Made are secrets for a service that nobody else can reach.
var Made = Secrets{AlowareUser: "aloware", AlowarePassword: "made up", HubSpot: "made up, too", PublicURL: "https://hooks.example.com"}

// Sender sends webhooks as Aloware and HubSpot do, and repeats each until it is
// answered 200. HubSpot does so up to ten times.
type Sender struct {
	Secrets Secrets
	URL     string // of the service
	HTTP    *http.Client
	Now     func() time.Time
	Sleep   func(context.Context, time.Duration) error
}

const mostTries = 10

// Answer is what a service says about a request.
type Answer struct {
	Received  int `json:"received"`
	New       int `json:"new"`
	Duplicate int `json:"duplicate"`
	Refused   int `json:"refused"`
	Waiting   int `json:"waiting"`
	Ignored   int `json:"ignored"`
}

// Send sends the request until it gets the right answer, which is 200, or 401 for a
// forged request. It returns the last answer and how often it sent.
func (s Sender) Send(ctx context.Context, r stream.Request) (a Answer, tries int, err error) {
	want := http.StatusOK
	if r.Proof != stream.Right {
		want = http.StatusUnauthorized
	}
	for tries = 1; ; tries++ {
		var status int
		status, a, err = s.once(ctx, r)
		switch {
		case err == nil && status == want:
			return a, tries, nil
		case err == nil:
			err = fmt.Errorf("%s of %s was answered with status %d, not %d", r.Path, r.At.Format(time.RFC3339), status, want)
		}
		if tries == mostTries || ctx.Err() != nil || s.Sleep(ctx, time.Minute) != nil {
			return a, tries, err
		}
	}
}

func (s Sender) once(ctx context.Context, r stream.Request) (status int, a Answer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+r.Path, bytes.NewReader([]byte(r.Body)))
	if err != nil {
		return 0, a, err
	}
	request.Header.Set("Content-Type", "application/json")
	s.prove(request, r)
	response, err := s.HTTP.Do(request)
	if err != nil {
		return 0, a, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode == http.StatusOK {
		err = json.Unmarshal(body, &a)
	}
	return response.StatusCode, a, err
}

// prove sets the headers by which a service recognizes the sender, or should
// recognize a forger.
func (s Sender) prove(request *http.Request, r stream.Request) {
	if r.Proof == stream.Missing {
		return
	}
	if r.Path == stream.AlowarePath {
		password := s.Secrets.AlowarePassword
		if r.Proof != stream.Right {
			password += "?"
		}
		request.SetBasicAuth(s.Secrets.AlowareUser, password)
		return
	}
	secret, body, at := s.Secrets.HubSpot, r.Body, s.Now()
	switch r.Proof {
	case stream.Wrong:
		secret += "?"
	case stream.Changed:
		body += " "
	case stream.Stale:
		at = at.Add(-6 * time.Minute)
	}
	stamp := strconv.FormatInt(at.UnixMilli(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(http.MethodPost + s.Secrets.PublicURL + r.Path + body + stamp))
	request.Header.Set("X-HubSpot-Request-Timestamp", stamp)
	request.Header.Set("X-HubSpot-Signature-v3", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
