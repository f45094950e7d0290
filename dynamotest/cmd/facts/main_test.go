package main

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	server := dynamotest.NewServer(nil)
	endpoint := httptest.NewServer(server.Handler())
	t.Cleanup(endpoint.Close)
	broken := httptest.NewServer(nil)
	t.Cleanup(broken.Close)
	for _, test := range []struct {
		args     string
		status   int
		out, log string
	}{
		{"-endpoint " + endpoint.URL + " -run ^get/get/", 0, "get               8 of    8\nall               8 of    8\n", ""},
		{"-endpoint " + broken.URL + " -run ^get/get/there", 1, "get/there\n    table provisioned_s: 404 : 404 page not found\n\nget               0 of    1\nall               0 of    1\n", ""},
		{"-endpoint " + broken.URL + " -run ^get/get/there -quiet", 1, "get               0 of    1\nall               0 of    1\n", ""},
		{"-endpoint http://127.0.0.1:1 -run ^get/get/there", 2, "", "connection refused"},
		{"-endpoint http://127.0.0.1:1 -run scan-refused", 2, "", "connection refused"},
		{"-run x", 2, "", "usage: facts -endpoint URL"},
		{"-endpoint x more", 2, "", "usage: facts -endpoint URL"},
		{"-endpoint x -run (", 2, "", "missing closing"},
		{"-endpint x", 2, "", "flag provided but not defined"},
		{"-help", 0, "", "the URL to ask"},
	} {
		var out, log bytes.Buffer
		status := run(t.Context(), strings.Fields(test.args), &out, &log)
		if status != test.status || !strings.Contains(out.String(), test.out) || !strings.Contains(log.String(), test.log) {
			t.Errorf("%s: status %d, want %d\n%s\n%s", test.args, status, test.status, &out, &log)
		}
	}
	if tables := server.Tables(); len(tables) > 0 {
		t.Errorf("tables are left: %q", tables)
	}
}
