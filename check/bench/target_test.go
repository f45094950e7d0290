package bench_test

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// A target is something that answers the SDK's client.
type target struct {
	name    string
	ceiling string // the target that no server in its place can beat
	client  *dynamodb.Client
}

// targets returns the servers to compare, each with the same items. Every server
// is a process of its own, and so is the ceiling's. Their clients are alike.
func targets(b *testing.B) []target {
	b.Helper()
	server := dynamotest.NewServer(nil)
	seed(b, server.Client())
	inMemory := recordReplies(b, "http://recorded.invalid", server.Transport())
	memory := dynamotest.Connect("http://canned.invalid", func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: inMemory}
	})
	all := []target{
		{name: "memory", client: memory},
		{name: "process", ceiling: "memory", client: server.Client()},
	}
	for _, c := range commands(b) {
		endpoint := c.start(b).endpoint
		client := connect(endpoint)
		seed(b, client)
		if c.name == "port" {
			overSocket := recordReplies(b, endpoint, http.DefaultTransport)
			all = append(all, target{name: "socket", client: connect(stub(b, overSocket).start(b).endpoint)})
		}
		all = append(all, target{name: c.name, ceiling: "socket", client: client})
	}
	return all
}

// connect returns a client for a server in another process, with connections of
// its own.
func connect(endpoint string) *dynamodb.Client {
	return dynamotest.Connect(endpoint, func(o *dynamodb.Options) {
		o.HTTPClient = keeper{http.DefaultTransport.(*http.Transport).Clone()}
	})
}

// A keeper keeps connections that the SDK's client would lose. smithy-go closes a
// request's body when the reply comes. From then on the body's WriteTo returns an
// error, and net/http closes the connection if it has not yet seen the body's end.
// Over the loopback that happens in up to every fourth call, more often the faster
// the server is. A body without WriteTo has simply ended.
type keeper struct{ http.RoundTripper }

func (k keeper) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return k.RoundTrip(r)
}

// canned gives the same reply to every call of an operation, in memory and as
// an HTTP server. What remains is the cost of the SDK and the network.
type canned map[string]reply

type reply struct {
	Header http.Header
	Body   []byte
}

// recordReplies returns the server's own replies to the measured calls.
func recordReplies(b *testing.B, endpoint string, transport http.RoundTripper) canned {
	b.Helper()
	c := canned{}
	client := dynamotest.Connect(endpoint, func(o *dynamodb.Options) {
		o.HTTPClient = recorder{next: transport, into: c}
	})
	for _, call := range calls {
		if err := call.do(b.Context(), client, 0); err != nil {
			b.Fatal(err)
		}
	}
	return c
}

type recorder struct {
	next http.RoundTripper
	into canned
}

func (r recorder) Do(req *http.Request) (*http.Response, error) {
	res, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	res.Header.Del("Date") // net/http writes its own
	r.into[req.Header.Get("X-Amz-Target")] = reply{res.Header, body}
	return res, err
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	got := c[r.Header.Get("X-Amz-Target")]
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: got.Header, Body: io.NopCloser(bytes.NewReader(got.Body)), ContentLength: int64(len(got.Body)),
	}, nil
}

func (c canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // otherwise the connection would not be used again
	got := c[r.Header.Get("X-Amz-Target")]
	for name, values := range got.Header {
		w.Header()[name] = values
	}
	_, _ = w.Write(got.Body)
}

// seed creates the table anew, with 200 partitions of 20 items.
func seed(b *testing.B, client *dynamodb.Client) {
	b.Helper()
	ctx := b.Context()
	_, _ = client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(tableName)}) // a peer may have kept it
	if err := createTable(ctx, client); err != nil {
		b.Fatal(err)
	}
	wait := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 50 * time.Millisecond })
	if err := wait.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(tableName)}, 10*time.Second); err != nil {
		b.Fatal(err)
	}
	for first := 0; first < items; first += 20 {
		puts := make([]types.WriteRequest, 20)
		for i := range puts {
			puts[i].PutRequest = &types.PutRequest{Item: item(first + i)}
		}
		in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{tableName: puts}}
		if out, err := client.BatchWriteItem(ctx, in); err != nil || len(out.UnprocessedItems) > 0 {
			b.Fatal("seeding: ", err)
		}
	}
}

func key(i int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "p" + strconv.Itoa(i/20)},
		"sk": &types.AttributeValueMemberN{Value: strconv.Itoa(i % 20)},
	}
}
