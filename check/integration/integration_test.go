package integration_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
)

var (
	image    = flag.String("image", "amazon/dynamodb-local:3.3.1", "the `image` of DynamoDB Local")
	required = flag.Bool("required", false, "fail where no container engine answers, rather than skip")
	module   = flag.String("module", ".", "the `folder` of the module whose tests are run, from the repository's root")
)

// root is the repository's.
const root = "../.."

func TestSuitesOnDynamoDBLocal(t *testing.T) {
	if err := engine(t.Context()); err != nil {
		if *required {
			t.Fatalf("no container engine answers: %v", err)
		}
		t.Skipf("NOTHING RAN ON %s, for no container engine answers (-required makes this a failure): %v", *image, err)
	}
	// With another encoding, which an image may have, it garbles the letters of string sets.
	utf8 := testcontainers.WithEnv(map[string]string{"JAVA_TOOL_OPTIONS": "-Dfile.encoding=UTF-8"})
	container, err := dynamodb.Run(t.Context(), *image,
		dynamodb.WithDisableTelemetry(), testcontainers.WithCmdArgs("-inMemory"), utf8)
	testcontainers.CleanupContainer(t, container)
	if err != nil {
		t.Fatal(err)
	}
	address, err := container.ConnectionString(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(root, *module)
	if err := suites(t, t.Output(), folder, "http://"+address, packages(t, folder)...); err != nil {
		t.Error(err)
	}
}

// The run above means something only if the tests use the given endpoint, and
// if failures there are reported.
func TestSuitesFollowTheEndpoint(t *testing.T) {
	var requests atomic.Int64
	database := dynamotest.NewServer(nil).Handler()
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		database.ServeHTTP(w, r)
	}))
	defer good.Close()
	if err := suites(t, t.Output(), root, good.URL, "./ledger"); err != nil {
		t.Error(err)
	}
	if requests.Load() == 0 {
		t.Error("the tests passed and never called")
	}

	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"__type": "AccessDeniedException"}`, http.StatusBadRequest)
	}))
	defer bad.Close()
	err := suites(t, io.Discard, root, bad.URL, "./event", "./ledger")
	if err == nil {
		t.Fatal("the tests pass on a server that refuses everything")
	}
	if got := err.Error(); !strings.Contains(got, "ddbpatterns/ledger") || strings.Contains(got, "ddbpatterns/event") {
		t.Errorf("the failure of ./ledger reads %q", got)
	}
}

// engine returns why no container engine answers, nil if one does.
func engine(ctx context.Context) error {
	provider, err := testcontainers.ProviderDocker.GetProvider()
	if err != nil {
		return err
	}
	return provider.Health(ctx)
}

// packages lists the packages of the folder's module whose tests open the given
// endpoint. All others would only repeat what they do without one.
func packages(t *testing.T, folder string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}\t{{.ImportPath}}", "./...")
	list.Dir, list.Stderr = folder, t.Output()
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []string
	for line := range strings.Lines(string(out)) {
		dir, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if opensEndpoint(t, dir) {
			all = append(all, name)
		}
	}
	if len(all) == 0 {
		t.Fatal("no package opens an endpoint")
	}
	return all
}

// opensEndpoint reports whether a test of the package calls dynamotest.Open.
func opensEndpoint(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(text, []byte("dynamotest.Open("))
	})
}

// suites runs the tests of the folder's packages against the endpoint. Their output
// goes to out. The error names the packages that failed.
func suites(t *testing.T, out io.Writer, folder, endpoint string, packages ...string) error {
	t.Helper()
	ctx := t.Context()
	if deadline, ok := t.Deadline(); ok { // leave time to remove the container
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-time.Minute))
		defer cancel()
	}
	var printed bytes.Buffer
	test := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1"}, packages...)...)
	test.Dir = folder
	test.Env = append(os.Environ(), "DYNAMODB_ENDPOINT"+"="+endpoint)
	test.Stdout = io.MultiWriter(out, &printed)
	test.Stderr = test.Stdout
	test.WaitDelay = 10 * time.Second // its children may hold the pipe
	if err := test.Run(); err != nil {
		failed := failures.FindAllString(printed.String(), -1)
		return errors.Join(err, ctx.Err(), errors.New(strings.Join(failed, "\n")))
	}
	return nil
}

// failures are the lines in which go test names the packages that failed.
var failures = regexp.MustCompile(`(?m)^FAIL\t.*$`)
