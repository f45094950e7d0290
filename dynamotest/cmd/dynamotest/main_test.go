package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

func TestServe(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- serve(ctx, options{addr: "127.0.0.1:0"}, func(address net.Addr) { ready <- address.String() })
	}()
	endpoint := "http://" + <-ready
	for bytes, want := range map[int]int{8 << 10: http.StatusNotFound, 17 << 10: http.StatusBadRequest, 65 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		if got := heading(t, endpoint, strings.Repeat("x", bytes)); got != want {
			t.Errorf("a header of %d bytes: %d, want %d", bytes, got, want)
		}
	}
	db := dynamotest.Connect(endpoint)
	table := schema.Table{Name: "orders", Key: schema.Key{Partition: schema.String("pk")}, TTL: "expiresAt"}
	if err := schema.Create(t.Context(), db, table); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("serve: %v", err)
	}
}

// heading returns the status of a request with a header.
func heading(t *testing.T, endpoint, header string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, endpoint, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Long", header)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// command returns the command, not yet started.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), argsVariable+"="+strings.Join(args, "\n"))
	return cmd
}

// The server uses half of the processors, or as many as it is told.
func TestProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(6))
	for args, want := range map[string]int{"": 3, "-procs 5": 5} {
		runtime.GOMAXPROCS(6)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if status := run(ctx, append(strings.Fields(args), "-addr", "127.0.0.1:0"), io.Discard, io.Discard); status != 0 {
			t.Errorf("%s: status %d", args, status)
		}
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("%q: %d processors, not %d", args, got, want)
		}
	}
}

// The command's messages after a user's mistakes, and its status.
func TestWhatTheUserIsTold(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	folder := t.TempDir()
	damaged, used := filepath.Join(folder, "damaged"), filepath.Join(folder, "used")
	if err := os.WriteFile(damaged, []byte("dynamotest journal 3\nwhat is this\n\nand this\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	user, err := dynamotest.OpenServer(used, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = user.Close() }()
	for _, tt := range []struct {
		args   []string
		status int
		want   string // a part of what it writes to its standard error
	}{
		{[]string{"-h"}, 0, `listen on HOST:PORT; port 0 is any free port, and standard output says which (default "127.0.0.1:8000")`},
		{[]string{"-h"}, 0, "such as 5s; 0 is never (default 1m0s)\n"},
		{[]string{"-help"}, 0, "Usage: dynamotest [-addr HOST:PORT] [-data FILE] [-ttl INTERVAL] [-procs N] [-tls] [-cert FILE]\n"},
		{[]string{"-port", "1"}, 2, "flag provided but not defined: -port"},
		{[]string{"-ttl", "often"}, 2, `invalid value "often" for flag -ttl`},
		{[]string{"-ttl", "5"}, 2, `invalid value "5" for flag -ttl: it must be an interval with a unit, such as 5s or 1m`},
		{[]string{"-procs", "0"}, 2, "dynamotest: -procs 0: a server needs at least one processor\nUsage"},
		{[]string{"-ttl", "-1s"}, 2, "dynamotest: -ttl -1s: an interval cannot be negative\nUsage"},
		{[]string{"-cert", "x.pem"}, 2, "dynamotest: -cert: there is a certificate only with -tls\nUsage"},
		{[]string{"-tls", "-cert", filepath.Join(folder, "none", "x.pem")}, 1, "dynamotest: -tls: open " + filepath.Join(folder, "none", "x.pem")},
		{[]string{"-data="}, 2, "dynamotest: -data: the name of the file is empty\nUsage"},
		{[]string{"8000"}, 2, "dynamotest: unexpected argument: \"8000\"\nUsage"},
		{[]string{"-addr", taken.Addr().String()}, 1, "dynamotest: listen tcp " + taken.Addr().String() + ": bind: address already in use; choose another address with -addr\n"},
		{[]string{"-addr", "256.0.0.1:1"}, 1, "256.0.0.1"},
		{[]string{"-data", filepath.Join(folder, "none", "data")}, 1, "dynamotest: data file " + filepath.Join(folder, "none", "data") + ": open "},
		{[]string{"-data", folder}, 1, "dynamotest: data file " + folder + ": open " + folder + ": is a directory\n"},
		{[]string{"-data", damaged}, 1, "dynamotest: data file " + damaged + ": damaged in line 2, at byte 21: it does not begin with a checksum, and 10 bytes follow that were written later; nothing was changed\n"},
		{[]string{"-data", used}, 1, "dynamotest: data file " + used + ": another process uses it"},
	} {
		t.Run(fmt.Sprint(tt.args), func(t *testing.T) {
			cmd := command(tt.args...)
			var out, log bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &log
			err := cmd.Run()
			var status *exec.ExitError
			if err != nil && !errors.As(err, &status) {
				t.Fatal(err)
			}
			if cmd.ProcessState.ExitCode() != tt.status || !strings.Contains(log.String(), tt.want) || out.Len() > 0 {
				t.Errorf("status %d, want %d; it said\n%s%s\nwant … %s …", cmd.ProcessState.ExitCode(), tt.status, &out, &log, tt.want)
			}
		})
	}
}

// SIGTERM ends the command with 0, even with a client connected. All items
// exist when it is started again, except expired ones, which were deleted.
func TestTerminated(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	item := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "kept"}}
	for round := range 2 {
		p := start(t, file, "-ttl", "1ms")
		if round == 0 {
			table := schema.Table{Name: "orders", Key: schema.Key{Partition: schema.String("pk")}, TTL: "expiresAt"}
			if err := schema.Create(t.Context(), p.client, table); err != nil {
				t.Fatal(err)
			}
			expired := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "over"}, "expiresAt": &types.AttributeValueMemberN{Value: fmt.Sprint(lastYear())}}
			for _, item := range []map[string]types.AttributeValue{item, expired} {
				if _, err := p.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item}); err != nil {
					t.Fatal(err)
				}
			}
			for items(t, p.client) > 1 { // until the sweep
			}
		}
		if n := items(t, p.client); n != 1 {
			t.Errorf("%d items", n)
		}
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	}
}

func items(t *testing.T, db *dynamodb.Client) int32 {
	t.Helper()
	out, err := db.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	return out.Count
}

// The command warns its user if it listens on another interface than the
// loopback.
func TestOtherInterfaces(t *testing.T) {
	t.Parallel()
	for addr, warned := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true} {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		var out, log bytes.Buffer
		if status := run(ctx, []string{"-addr", addr, "-procs", strconv.Itoa(runtime.GOMAXPROCS(0))}, &out, &log); status != 0 || !strings.Contains(out.String(), "listening on http://") {
			t.Errorf("%s: status %d, %s", addr, status, &out)
		}
		if strings.Contains(log.String(), "can read and change everything") != warned {
			t.Errorf("%s: %s", addr, &log)
		}
	}
}

// The documentation has every flag, and its default.
func TestTheDocumentationHasTheFlags(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, _, _ := strings.Cut(string(code), "\npackage main")
	var help bytes.Buffer
	if _, err := parse([]string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`(?m)^  (-\w+(?: [A-Z:]+)?)$`).FindAllStringSubmatch(help.String(), -1)
	if len(flags) != 6 {
		t.Fatalf("%d flags in %s", len(flags), &help)
	}
	for _, f := range flags {
		if !strings.Contains(doc, "//\t"+f[1]+" ") {
			t.Errorf("the documentation lacks %s", f[1])
		}
	}
}
