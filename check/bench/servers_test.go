package bench_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A command starts a server in a process of its own. PORT in one of its arguments
// is the port to listen on.
type command struct {
	name string
	args []string
	env  []string
}

// peers are other projects' servers. Each is measured if the variable has its
// command.
var peers = []struct{ name, variable string }{
	{"local", "DYNAMODB_LOCAL"},
	{"dynalite", "DYNALITE"},
	{"dynoxide", "DYNOXIDE"},
}

// commands returns the command of dynamotest, which it builds, and those of the
// available peers.
func commands(b *testing.B) []command {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "dynamotest")
	build := exec.Command("go", "build", "-o", binary, "github.com/homeops/ddbpatterns/dynamotest/cmd/dynamotest")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building dynamotest: %v\n%s", err, out)
	}
	all := []command{{name: "port", args: []string{binary, "-addr", "127.0.0.1:PORT"}}}
	for _, p := range peers {
		if args := strings.Fields(os.Getenv(p.variable)); len(args) > 0 {
			all = append(all, command{name: p.name, args: args})
		}
	}
	return all
}

// While stubVariable is set, the test's own binary is a server of canned
// replies. The variable names the file with the replies, and portVariable has
// the port.
const (
	stubVariable = "BENCH_STUB"
	portVariable = "BENCH_STUB_PORT"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(stubVariable); file != "" {
		fmt.Fprintln(os.Stderr, "stub:", serveStub(file))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serveStub answers canned replies until it is killed.
func serveStub(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	replies := canned{}
	if err := json.Unmarshal(text, &replies); err != nil {
		return err
	}
	return http.ListenAndServe("127.0.0.1:"+os.Getenv(portVariable), replies)
}

// stub returns the command of a server of canned replies.
func stub(b *testing.B, replies canned) command {
	b.Helper()
	text, err := json.Marshal(replies)
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "replies.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		b.Fatal(err)
	}
	return command{name: "socket", args: []string{os.Args[0]}, env: []string{stubVariable + "=" + file, portVariable + "=PORT"}}
}

// A process is a running server that answers.
type process struct {
	endpoint string
	pid      int
	took     time.Duration // from its start until it answered
	stop     func()
}

// start starts a server and waits until it answers. It ends with the benchmark at
// the latest.
func (c command) start(b *testing.B) process {
	b.Helper()
	address := freeAddress(b)
	_, port, _ := net.SplitHostPort(address)
	args := make([]string, len(c.args))
	for i, arg := range c.args {
		args[i] = strings.ReplaceAll(arg, "PORT", port)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = b.TempDir() // some write files into the current folder
	cmd.Env = os.Environ()
	for _, e := range c.env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(e, "=PORT", "="+port))
	}
	log, err := os.Create(filepath.Join(cmd.Dir, "log"))
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatalf("%s: %v", c.name, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // usually ended by a signal
		close(ended)
	}()
	stop := func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	}
	b.Cleanup(stop)
	endpoint := "http://" + address
	for !answers(endpoint) {
		select {
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			b.Fatalf("%s has ended: %s", c.name, text)
		case <-time.After(time.Millisecond):
		}
		if time.Since(began) > time.Minute {
			b.Fatalf("%s does not answer on port %s", c.name, port)
		}
	}
	return process{endpoint: endpoint, pid: cmd.Process.Pid, took: time.Since(began), stop: stop}
}

func freeAddress(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// answers reports whether a server answers at all.
func answers(endpoint string) bool {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	res, err := client.Get(endpoint)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return true
}

// BenchmarkProcess measures the servers as processes: how long they take until
// they answer, their memory then, and their memory after 4,000 items were put and
// each kind of call was made a thousand times. It needs Linux.
func BenchmarkProcess(b *testing.B) {
	for _, c := range commands(b) {
		b.Run(c.name, func(b *testing.B) {
			var starts, idle, used []float64
			for b.Loop() {
				p := c.start(b)
				starts = append(starts, float64(p.took.Microseconds())/1000)
				idle = append(idle, resident(b, p.pid))
				client := connect(p.endpoint)
				seed(b, client)
				for _, call := range calls {
					for i := range 1000 {
						if err := call.do(b.Context(), client, i); err != nil {
							b.Fatal(err)
						}
					}
				}
				used = append(used, resident(b, p.pid))
				p.stop()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(starts), "start-ms")
			b.ReportMetric(median(idle), "idle-MB")
			b.ReportMetric(median(used), "used-MB")
			if found, err := exec.LookPath(c.args[0]); err == nil {
				if info, err := os.Stat(found); err == nil {
					b.ReportMetric(float64(info.Size())/1e6, "binary-MB")
				}
			}
		})
	}
}

// resident returns how many MB of memory a process has.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kB, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kB * 1024 / 1e6
}
