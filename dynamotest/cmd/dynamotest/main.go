// Command dynamotest serves a DynamoDB on a port, for programs and SDKs of any
// language:
//
//	go run github.com/homeops/ddbpatterns/dynamotest/cmd/dynamotest -addr 127.0.0.1:8000
//
// The server needs no account. A client needs the endpoint, a region and some
// credentials. The server does not check the credentials. For the AWS CLI, and
// for current SDKs, which read the environment, this is enough:
//
//	export AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1
//	export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any
//
// In code:
//
//	// Go
//	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion("us-east-1"),
//		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("any", "any", "")))
//	db := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String("http://127.0.0.1:8000") })
//	db := dynamotest.Connect("http://127.0.0.1:8000") // the same
//
//	// JavaScript
//	const db = new DynamoDBClient({ endpoint: "http://127.0.0.1:8000", region: "us-east-1",
//		credentials: { accessKeyId: "any", secretAccessKey: "any" } });
//
//	# Python
//	db = boto3.client("dynamodb", endpoint_url="http://127.0.0.1:8000", region_name="us-east-1",
//		aws_access_key_id="any", aws_secret_access_key="any")
//
//	// Java
//	DynamoDbClient db = DynamoDbClient.builder().endpointOverride(URI.create("http://127.0.0.1:8000"))
//		.region(Region.US_EAST_1)
//		.credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("any", "any"))).build();
//
//	# AWS CLI
//	aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000
//
// By default the server listens only on the loopback interface, because
// everybody who can reach the port can read and change everything.
//
// The flags of the command are its only settings:
//
//	-addr HOST:PORT   the address to listen on, by default 127.0.0.1:8000. Port 0 is
//	                  any free port. When the server can be reached, it prints its
//	                  URL, in the first line on standard output:
//	                  dynamotest: listening on http://127.0.0.1:39145
//	-data FILE        keep the data in a file. Without it, all data is lost at the
//	                  end.
//	-ttl INTERVAL     how often to delete expired items, such as 5s, by default every
//	                  minute; 0 is never.
//	-procs N          how many processors to use, by default half of them. The others
//	                  are for the clients, which mostly run on the same machine and
//	                  work longer on a call than the server.
//	-tls              serve HTTPS, with a new certificate at every start, for
//	                  localhost, 127.0.0.1, ::1 and the host of -addr. The command
//	                  prints it after the URL, as PEM: clients must trust it.
//	-cert FILE        with -tls, write the certificate to a file, too, for clients
//	                  that take one: AWS_CA_BUNDLE for the AWS CLI and most SDKs,
//	                  NODE_EXTRA_CA_CERTS for JavaScript, curl --cacert.
//
// The command has no options for faults, partition limits or lag. To use these,
// write a Go program that serves dynamotest.Server.Handler.
//
// With -data, the server acknowledges a write only when the write is on disk, so
// you may kill the server at any time. Only one process at a time may use a file.
// After a write of the file has failed, every request fails, reads too, until the
// command is started again. See dynamotest.OpenServer for the contents of the file,
// and for damaged files and full disks.
//
// SIGINT and SIGTERM end the server after it has answered the running requests,
// at most five seconds later. The status is 0, or 1 if the data file has
// failed. A second signal ends the server at once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command and returns its exit status.
func run(ctx context.Context, args []string, out, log io.Writer) int {
	opt, err := parse(args, log)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}

	runtime.GOMAXPROCS(opt.procs)
	if err := opt.secure(); err != nil {
		fmt.Fprintln(log, "dynamotest: -tls:", err)
		return 1
	}

	ready := func(address net.Addr) {
		if opt.own == nil {
			fmt.Fprintln(out, "dynamotest: listening on http://"+address.String())
		} else {
			fmt.Fprintf(out, "dynamotest: listening on https://%s\n%s", address, opt.own.pem)
		}
		if tcp, ok := address.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
			fmt.Fprintln(log, "dynamotest: this is not the loopback interface: everybody who can reach it can read and change everything")
		}
	}
	if err := serve(ctx, opt, ready); err != nil {
		fmt.Fprintln(log, "dynamotest:", strings.TrimPrefix(err.Error(), "dynamotest: "))
		return 1
	}

	return 0
}

type options struct {
	addr  string
	data  string   // the file; "" without one
	sweep interval // how often expired items are deleted
	procs int      // how many processors are used
	tls   bool
	cert  string       // the file that gets the certificate; "" without one
	own   *certificate // nil without tls
}

// half returns half of the processors, which is the default. With all of them, Go
// would wake a second thread for each request, and with few processors that thread
// takes the place of the client that waits for the answer.
func half() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// interval is the value of a flag. Unlike for the flag package's durations, the
// error says how an interval is written.
type interval time.Duration

func (i *interval) String() string { return time.Duration(*i).String() }

func (i *interval) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("it must be an interval with a unit, such as 5s or 1m")
	}
	*i = interval(d)
	return nil
}

// parse reads the command line. It prints an error itself.
func parse(args []string, log io.Writer) (opt options, err error) {
	flags := flag.NewFlagSet("dynamotest", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.Usage = func() {
		fmt.Fprint(log, "Usage: dynamotest [-addr HOST:PORT] [-data FILE] [-ttl INTERVAL] [-procs N] [-tls] [-cert FILE]\n\n"+
			"Serves a DynamoDB. Clients need its URL as the endpoint, a region,\n"+
			"and any credentials.\n\n")
		flags.PrintDefaults()
	}

	flags.StringVar(&opt.addr, "addr", "127.0.0.1:8000", "listen on `HOST:PORT`; port 0 is any free port, and standard output says which")
	flags.StringVar(&opt.data, "data", "", "keep everything in `FILE`, which is created if it does not exist; without it, all data is\nlost at the end")
	opt.sweep = interval(time.Minute)
	flags.Var(&opt.sweep, "ttl", "delete expired items at every `INTERVAL`, such as 5s; 0 is never")
	flags.IntVar(&opt.procs, "procs", half(), "use `N` processors, by default half of them")
	flags.BoolVar(&opt.tls, "tls", false, "serve HTTPS, with a new certificate, which standard output has after the URL")
	flags.StringVar(&opt.cert, "cert", "", "with -tls, write the certificate to `FILE`, too")
	if err := flags.Parse(args); err != nil {
		return opt, err
	}

	flags.Visit(func(f *flag.Flag) {
		if f.Name == "data" && opt.data == "" { // mostly a variable that is not set
			err = errors.New("-data: the name of the file is empty")
		}
	})

	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument: %q", flags.Arg(0))
	case opt.sweep < 0:
		err = fmt.Errorf("-ttl %v: an interval cannot be negative", &opt.sweep)
	case opt.cert != "" && !opt.tls:
		err = errors.New("-cert: there is a certificate only with -tls")
	case opt.procs < 1:
		err = fmt.Errorf("-procs %d: a server needs at least one processor", opt.procs)
	}

	if err != nil {
		fmt.Fprintln(log, "dynamotest:", err)
		flags.Usage()
	}
	return opt, err
}

// maxHeader limits the bytes of a header that are read. The handler answers a
// header of more than 16 KB with 400, as DynamoDB does. net/http answers 431 to a
// header that is more than 4 KB over this limit.
const maxHeader = 60 << 10

// spare is the size of a block that is allocated and never used, so that the kernel
// gives no memory for it. Without it, the garbage collector would collect a small
// heap after every 4 MB of growth, dozens of times a second, which is an eighth of
// the CPU time of requests. With it, the heap may grow by 20 MB first. A large heap
// grows as tune says.
const spare = 16 << 20

// serve answers until the context ends, then finishes the running requests.
func serve(ctx context.Context, opt options, ready func(net.Addr)) (err error) {
	unused := make([]byte, spare)
	defer runtime.KeepAlive(unused)
	tune(ctx)
	db := dynamotest.NewServer(nil)
	if opt.data != "" {
		if db, err = dynamotest.OpenServer(opt.data, nil); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	listener, err := listen(ctx, opt.addr)
	if err != nil {
		return fmt.Errorf("%w; choose another address with -addr", err)
	}

	server := &http.Server{
		Handler:           givingBack(ctx, db.Handler()),
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      time.Minute,
		IdleTimeout:       5 * time.Minute,
	}
	if opt.sweep > 0 {
		go expire(ctx, db, time.Duration(opt.sweep))
	}

	failed := make(chan error, 1)
	go func() {
		if opt.own == nil {
			failed <- server.Serve(listener)
			return
		}
		server.TLSConfig, server.Protocols = opt.own.config, new(http.Protocols)
		server.Protocols.SetHTTP1(true) // DynamoDB has no HTTP/2
		failed <- server.ServeTLS(listener, "", "")
	}()

	ready(listener.Addr())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}

	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(deadline); err != nil {
		_ = server.Close() // connections without a request yet get no reply
	}

	return nil
}

func expire(ctx context.Context, db *dynamotest.Server, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			db.ExpireTTL()
		}
	}
}
