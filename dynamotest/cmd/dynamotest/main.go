// Command dynamotest serves a DynamoDB of its own on a port, for programs and
// SDKs of any language:
//
//	go run github.com/homeops/ddbpatterns/dynamotest/cmd/dynamotest -addr 127.0.0.1:8000
//
// It needs no account. A client needs the endpoint, a region, and credentials that
// may be any: they are not checked.
//
//	export AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 AWS_REGION=us-east-1
//	export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any
//
// is enough for the AWS CLI and for SDKs that read the environment, as the current
// ones do. In code:
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
// Unless told otherwise it listens on the loopback interface only: whoever
// reaches the port can read and change everything.
//
// Its flags are all that can be set:
//
//	-addr HOST:PORT   where it listens: 127.0.0.1:8000 unless told otherwise. Port 0
//	                  is any that is free. When it can be reached it says where in
//	                  a line on standard output, the only one:
//	                  dynamotest: listening on http://127.0.0.1:39145
//	-data FILE        keeps what it holds in a file; without it all is forgotten at
//	                  the end.
//	-ttl INTERVAL     how often it deletes expired items, such as 5s: every minute
//	                  unless told otherwise; 0 is never.
//
// Faults, limits of partitions and lag are not for the command: a program in Go
// that serves dynamotest.Server.Handler can have them.
//
// With -data it acknowledges nothing that is not on disk: it may be killed at any
// time. One process uses a file at a time. See dynamotest.OpenServer for what the
// file has and what happens when it is damaged or the disk is full.
//
// SIGINT and SIGTERM end it with status 0, after the requests that are under way.
// A second one ends it at once.
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
	context.AfterFunc(ctx, stop) // a second signal is not waited for
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command: it returns the status that it ends with.
func run(ctx context.Context, args []string, out, log io.Writer) int {
	opt, err := parse(args, log)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	ready := func(address net.Addr) {
		fmt.Fprintln(out, "dynamotest: listening on http://"+address.String())
		if tcp, ok := address.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
			fmt.Fprintln(log, "dynamotest: this is not the loopback interface: whoever reaches it can read and change everything")
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
	data  string   // the file; "" is none
	sweep interval // how often expired items are deleted
}

// interval is a flag. Unlike the flag package's durations it says how one is
// written.
type interval time.Duration

func (i *interval) String() string { return time.Duration(*i).String() }

func (i *interval) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("an interval has a unit, such as 5s or 1m")
	}
	*i = interval(d)
	return nil
}

// parse reads the command line. It has told the user of an error.
func parse(args []string, log io.Writer) (opt options, err error) {
	flags := flag.NewFlagSet("dynamotest", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.Usage = func() {
		fmt.Fprint(log, "Usage: dynamotest [-addr HOST:PORT] [-data FILE] [-ttl INTERVAL]\n\n"+
			"Serves a DynamoDB of its own. Clients need its URL as the endpoint, a region,\n"+
			"and credentials that may be any.\n\n")
		flags.PrintDefaults()
	}
	flags.StringVar(&opt.addr, "addr", "127.0.0.1:8000", "listen on `HOST:PORT`; port 0 is any that is free, and standard output says which")
	flags.StringVar(&opt.data, "data", "", "keep everything in `FILE`, which is made if it does not exist; without it, all is\nforgotten at the end")
	opt.sweep = interval(time.Minute)
	flags.Var(&opt.sweep, "ttl", "delete expired items at every `INTERVAL`, such as 5s; 0 is never")
	if err := flags.Parse(args); err != nil {
		return opt, err
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Name == "data" && opt.data == "" { // a variable that is not set, as a rule
			err = errors.New("-data: the name of the file is empty")
		}
	})
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument: %q", flags.Arg(0))
	case opt.sweep < 0:
		err = fmt.Errorf("-ttl %v: an interval cannot be negative", &opt.sweep)
	}
	if err != nil {
		fmt.Fprintln(log, "dynamotest:", err)
		flags.Usage()
	}
	return opt, err
}

// maxHeader is the most bytes of a header that are read. The handler refuses one of
// more than 16 KB as DynamoDB does, with 400; net/http answers 431 to one that is
// longer than this, to which it adds 4 KB.
const maxHeader = 60 << 10

// spare is how many bytes the garbage collector is told of that nobody uses, and
// for which the kernel therefore gives no memory. A small heap would be collected
// whenever it has grown by 4 MB, dozens of times a second: an eighth of what requests
// cost. Now it may grow by 20 MB first; a large heap grows as ever.
const spare = 16 << 20

// serve answers until the context ends, then finishes what is under way.
func serve(ctx context.Context, opt options, ready func(net.Addr)) (err error) {
	unused := make([]byte, spare)
	defer runtime.KeepAlive(unused)
	db := dynamotest.NewServer(nil)
	if opt.data != "" {
		if db, err = dynamotest.OpenServer(opt.data, nil); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	listener, err := listen(ctx, opt.addr)
	if err != nil {
		return fmt.Errorf("%w; -addr takes another address", err)
	}
	server := &http.Server{
		Handler:           db.Handler(),
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
	go func() { failed <- server.Serve(listener) }()
	ready(listener.Addr())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(deadline); err != nil {
		_ = server.Close() // who has not sent a request by now gets no reply
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
