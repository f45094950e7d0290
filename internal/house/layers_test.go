package house

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// A layer is a package, or all packages below a folder if it ends in a slash, and
// the packages of this module that it may import. Its tests may also import itself
// and inTests.
type layer struct {
	pkg string
	may []string
}

// layers are the floors that ARCHITECTURE.md draws. A package without a row may
// import nothing of this module.
var layers = []layer{
	// The ground: what happened, and packages that do not need DynamoDB.
	{"tzclock", []string{"event"}},
	{"internal/check", []string{"event"}},
	{"internal/cursor", []string{"event"}},
	{"internal/walk", nil},
	// Requests and their answers.
	{"internal/ddb", []string{"event"}},
	{"internal/item", []string{"event", "internal/ddb"}},
	{"internal/erase", []string{"internal/ddb"}},
	{"schema", []string{"event", "internal/check", "internal/ddb"}},
	// Parts of rows that several record packages write.
	{"internal/payload", []string{"event", "internal/ddb", "internal/item"}},
	{"internal/filter", []string{"event", "internal/ddb", "internal/payload"}},
	{"internal/backfill", []string{"internal/ddb", "internal/item"}},
	{"internal/actor", []string{"event", "internal/check", "internal/item", "schema"}},
	{"internal/names", []string{"event", "internal/check", "internal/ddb", "schema"}},
	// The base of own records that are safe to repeat.
	{"record", []string{"event", "internal/check", "internal/cursor", "internal/ddb", "internal/erase", "internal/item", "internal/key", "internal/payload", "schema"}},
	// One record type each. No record package imports another; the base is below them.
	{"activity", []string{"event", "internal/", "record", "schema"}},
	{"alias", []string{"event", "internal/", "schema"}},
	{"counter", []string{"event", "internal/", "record", "schema", "tzclock"}},
	{"ema", []string{"event", "internal/", "record", "schema"}},
	{"ledger", []string{"event", "internal/", "record", "schema"}},
	{"message", []string{"event", "internal/", "record", "schema"}},
	{"pattern", []string{"event", "internal/", "record", "schema", "tzclock"}},
	// Questions to a record package, with no expression of their own.
	{"memory", []string{"activity", "event", "internal/check", "schema", "tzclock"}},
	// What the errors of all packages mean.
	{"verdict", slices.Concat(recordPackages, []string{"event", "record", "schema", "tzclock"})},
	// The server knows nothing about the library that is tested on it, and the
	// library knows nothing about the server.
	{"dynamotest/", []string{"dynamotest/"}},
	// Packages that tests share.
	{"internal/golden", []string{"internal/ddb"}},
	{"internal/pricetest", []string{"dynamotest", "internal/ddb", "schema"}},
	{"internal/recordtest", []string{"event", "internal/ddb", "schema"}},
	{"internal/stacktest", []string{"dynamotest", "schema"}},
	// An application imports what a user can import, and its own packages.
	// homeops' service does not import its demonstration.
	{"examples/internal/database", slices.Concat(application, []string{"examples/internal/env"})},
	{"examples/internal/serving", slices.Concat(application, []string{"examples/internal/sleep"})},
	{"examples/internal/", application},
	{"examples/homeops/words", nil},
	{"examples/homeops/classify", []string{"event", "examples/homeops/words"}},
	{"examples/homeops/dialog", []string{"examples/homeops/words"}},
	{"examples/homeops/demo/", slices.Concat(application, homeops, []string{"examples/homeops/demo/"})},
	{"examples/homeops/queue/queuetest", []string{"examples/homeops/queue"}},
	{"examples/homeops/queue", []string{"examples/homeops/queue/queuetest"}},
	{"examples/homeops/run", slices.Concat(application, homeops, []string{"examples/homeops/demo/"})},
	{"examples/homeops", []string{"examples/homeops/run"}},
	{"examples/homeops/aws/", slices.Concat(application, homeops, []string{"examples/homeops/aws/", "examples/homeops/demo/", "examples/homeops/model", "examples/homeops/queue/queuetest", "examples/homeops/run"})},
	{"examples/homeops/browser", slices.Concat(application, homeops, []string{"examples/homeops/run"})},
	{"examples/homeops/upkeep/", slices.Concat(application, homeops, []string{"examples/homeops/upkeep/"})},
	{"examples/homeops/", slices.Concat(application, homeops)},
	{"examples/quill/fact", nil},
	{"examples/quill/demo/", slices.Concat(application, quill, []string{"examples/quill/demo/"})},
	{"examples/quill/run", slices.Concat(application, quill, []string{"examples/quill/demo/"})},
	{"examples/quill", []string{"examples/quill/run"}},
	{"examples/quill/", slices.Concat(application, quill)},
	{"examples/", application},
	// The checks that take long.
	{"check/", slices.Concat(application, []string{"check/", "internal/"})},
}

// application is what an application may import.
var application = slices.Concat(recordPackages, []string{"dynamotest", "event", "record", "schema", "tzclock", "verdict"})

// homeops are the packages of that example's service.
var homeops = []string{
	"examples/homeops/app", "examples/homeops/classify", "examples/homeops/config",
	"examples/homeops/dialog", "examples/homeops/dlq", "examples/homeops/dmstatus", "examples/homeops/ingest",
	"examples/homeops/job", "examples/homeops/moved", "examples/homeops/once", "examples/homeops/page", "examples/homeops/personal", "examples/homeops/planner",
	"examples/homeops/profile", "examples/homeops/promise", "examples/homeops/queue",
	"examples/homeops/telegram", "examples/homeops/trips", "examples/homeops/week", "examples/homeops/words", "examples/homeops/worker",
	"examples/internal/",
}

// quill are the packages of that example's service.
var quill = []string{
	"examples/internal/",
	"examples/quill/aloware", "examples/quill/config", "examples/quill/fact", "examples/quill/fields",
	"examples/quill/hubspot", "examples/quill/intake", "examples/quill/outbox", "examples/quill/post",
	"examples/quill/powerbi", "examples/quill/powerbi/powerbitest", "examples/quill/sink",
}

// forTests are packages that only tests import.
var forTests = []string{"examples/homeops/queue/queuetest", "examples/internal/serving/servingtest", "internal/golden", "internal/pricetest", "internal/recordtest", "internal/sequence", "internal/stacktest"}

// inTests are the packages that the tests of any package may import: they create
// tables on a server, and read data. A user's go.sum has what they import.
var inTests = []string{"dynamotest", "record", "schema", "internal/"}

func TestLayers(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, f := range sources(t) {
		if path.Dir(f.path) == "." || f.in("internal/house") { // these show and check all packages
			continue
		}
		var of layer
		if row := slices.IndexFunc(layers, func(l layer) bool { return within(path.Dir(f.path), l.pkg) }); row >= 0 {
			of = layers[row]
			used[of.pkg] = true
		}
		may := of.may
		if f.test {
			may = slices.Concat(may, inTests, []string{path.Dir(f.path)})
		}
		if f.test && f.in("examples/") { // compares with what the library does
			may = slices.Concat(may, application)
		}
		for _, spec := range f.file.Imports {
			to, ours := strings.CutPrefix(imported(spec)+"/", module+"/") // also the root, which is ""
			to = strings.TrimSuffix(to, "/")
			allowed := slices.ContainsFunc(may, func(place string) bool { return within(to, place) })
			if ours && (!allowed || !f.test && slices.Contains(forTests, to)) {
				t.Errorf("%s: this package may not import %s", f.at(spec), to)
			}
		}
	}
	for _, l := range layers {
		if !used[l.pkg] {
			t.Errorf("layers has a row for %s, which is gone", l.pkg)
		}
	}
}

// within reports whether pkg is place, or below it if place ends in a slash.
func within(pkg, place string) bool {
	return pkg == place || strings.HasSuffix(place, "/") && strings.HasPrefix(pkg+"/", place)
}
