package bench_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
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

// peers are servers that somebody else has started.
var peers = []struct{ name, variable string }{
	{"local", "DYNAMODB_LOCAL_ENDPOINT"},
	{"dynalite", "DYNALITE_ENDPOINT"},
	{"dynoxide", "DYNOXIDE_ENDPOINT"},
}

// targets returns what there is to compare, each with the same items.
func targets(b *testing.B) []target {
	b.Helper()
	server := dynamotest.NewServer(nil)
	seed(b, server.Client())
	canned := recordReplies(b, server)

	memory := dynamotest.Connect("http://canned.invalid", func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: canned}
	})
	all := []target{
		{name: "memory", client: memory},
		{name: "process", ceiling: "memory", client: server.Client()},
		{name: "socket", client: dynamotest.Connect(listen(b, canned))},
		{name: "port", ceiling: "socket", client: dynamotest.Connect(listen(b, server.Handler()))},
	}
	for _, p := range peers {
		if endpoint := os.Getenv(p.variable); endpoint != "" {
			client := dynamotest.Connect(endpoint)
			seed(b, client)
			all = append(all, target{name: p.name, ceiling: "socket", client: client})
		}
	}
	return all
}

func listen(b *testing.B, h http.Handler) string {
	s := httptest.NewServer(h)
	b.Cleanup(s.Close)
	return s.URL
}

// canned gives the same reply to every call of an operation, in memory and as
// an HTTP server: what is left is what the SDK and the network cost.
type canned map[string]reply

type reply struct {
	header http.Header
	body   []byte
}

// recordReplies returns the server's own replies to the calls that are
// measured.
func recordReplies(b *testing.B, server *dynamotest.Server) canned {
	c := canned{}
	client := dynamotest.Connect("http://recorded.invalid", func(o *dynamodb.Options) {
		o.HTTPClient = recorder{next: server.Transport(), into: c}
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
	res.Body = io.NopCloser(bytes.NewReader(body))
	r.into[req.Header.Get("X-Amz-Target")] = reply{res.Header, body}
	return res, err
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	got := c[r.Header.Get("X-Amz-Target")]
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: got.header, Body: io.NopCloser(bytes.NewReader(got.body)), ContentLength: int64(len(got.body)),
	}, nil
}

func (c canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // else the connection would not be used again
	got := c[r.Header.Get("X-Amz-Target")]
	for name, values := range got.header {
		w.Header()[name] = values
	}
	_, _ = w.Write(got.body)
}

// seed makes the table anew, with 200 partitions of 20 items.
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
