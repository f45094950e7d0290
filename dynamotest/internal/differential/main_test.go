package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Two servers of one kind agree, and most of what is sent is accepted: a run
// that is refused throughout would compare nothing.
func TestNoDifferenceFromItself(t *testing.T) {
	t.Parallel()
	rep, err := compare(t.Context(), inProcess(), inProcess(), 4000, 11)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.unknown) > 0 || len(rep.known) > 0 {
		var text strings.Builder
		rep.print(&text, 3)
		t.Fatal(text.String())
	}
	if rep.accepted < rep.requests*2/5 || rep.accepted > rep.requests*9/10 {
		t.Errorf("%d of %d requests were accepted", rep.accepted, rep.requests)
	}
}

// forgetful is a server that does not heed one member.
type forgetful struct{ next http.RoundTripper }

func (f forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	body = bytes.ReplaceAll(body, []byte(`"ScanIndexForward":false`), []byte(`"ScanIndexForward":true`))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return f.next.RoundTrip(r)
}

func TestAFlawIsFound(t *testing.T) {
	t.Parallel()
	flawed := inProcess()
	flawed.client = &http.Client{Transport: forgetful{flawed.client.Transport}}
	rep, err := compare(t.Context(), inProcess(), flawed, 4000, 11)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.unknown) == 0 {
		t.Fatal("nothing was found")
	}
	for _, d := range rep.unknown {
		if d.request.op != "Query" || d.request.body["ScanIndexForward"] != false {
			t.Errorf("%s\n%s\n%s", d.request, d.ours, d.theirs)
		}
	}
}
