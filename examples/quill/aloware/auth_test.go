package aloware_test

import (
	"encoding/base64"
	"net/http/httptest"
	"testing"

	"github.com/homeops/ddbpatterns/examples/quill/aloware"
)

func TestAuth(t *testing.T) {
	t.Parallel()
	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
	user, token := aloware.Auth{User: "quill", Password: "s3:cret"}, aloware.Auth{Token: "t0ken"}
	both := aloware.Auth{User: "quill", Password: "s3:cret", Token: "t0ken"}
	right := basic("quill:s3:cret")
	for _, test := range []struct {
		auth     aloware.Auth
		headers  []string
		accepted bool
	}{
		{user, []string{right}, true},
		{user, []string{"bAsIc" + right[5:]}, true},
		{both, []string{right}, true},
		{token, []string{"Bearer t0ken"}, true},
		{token, []string{"BEARER t0ken"}, true},
		{both, []string{"bearer t0ken"}, true},
		{aloware.Auth{Password: "p"}, []string{basic(":p")}, true},
		{aloware.Auth{User: "u"}, []string{basic("u:")}, true},

		{aloware.Auth{}, nil, false},
		{aloware.Auth{}, []string{""}, false},
		{aloware.Auth{}, []string{basic(":")}, false},
		{aloware.Auth{}, []string{"Bearer "}, false},
		{aloware.Auth{}, []string{"Bearer"}, false},
		{both, nil, false},
		{both, []string{""}, false},
		{both, []string{right, right}, false},
		{both, []string{"Bearer t0ken", "Bearer t0ken"}, false},
		{both, []string{right, "Bearer t0ken"}, false},
		{user, []string{"Bearer t0ken"}, false},
		{user, []string{"Bearer "}, false},
		{token, []string{right}, false},
		{token, []string{basic(":")}, false},
		{user, []string{basic("quill:s3:creT")}, false},
		{user, []string{basic("quilL:s3:cret")}, false},
		{user, []string{basic("quill:")}, false},
		{user, []string{basic(":s3:cret")}, false},
		{user, []string{basic("quill")}, false},
		{user, []string{"Basic quill:s3:cret"}, false},
		{user, []string{"Digest " + right[6:]}, false},
		{token, []string{"Bearer t0ke"}, false},
		{token, []string{"Bearer t0ken2"}, false},
		{token, []string{"Bearer  t0ken"}, false},
		{token, []string{"Bearert0ken"}, false},
		{token, []string{"t0ken"}, false},
	} {
		r := httptest.NewRequest("POST", "/aloware", nil)
		for _, header := range test.headers {
			r.Header.Add("Authorization", header)
		}
		if test.auth.Check(r) != test.accepted {
			t.Errorf("%+v: %q: accepted is %v", test.auth, test.headers, !test.accepted)
		}
	}
}
