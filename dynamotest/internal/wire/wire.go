package wire

import (
	"context"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// MaxBody is the most bytes of a request.
const MaxBody = 16 << 20

// What the targets of the operations begin with: those of tables and items,
// and those of streams, which are another service at the same address.
const (
	prefix        = "DynamoDB_20120810."
	streamsPrefix = "DynamoDBStreams_20120810."
)

// operationOf returns the name of the operation that a target names. It may do
// so without a prefix.
func operationOf(target string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(target, prefix); ok {
		return name, !api.OperationNamed(name).Has(api.Streams)
	}
	if name, ok = strings.CutPrefix(target, streamsPrefix); ok {
		return name, api.OperationNamed(name).Has(api.Streams)
	}
	return target, true
}

// CapacityHeader carries what a request cost, refused ones included: a JSON
// array in the form of ConsumedCapacity.
const CapacityHeader = "X-Dynamotest-Capacity"

// A Reply is the answer to a request.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	Cost   capacity.Cost
}

// Do performs the operation that target names, "DynamoDB_20120810.PutItem" or
// just "PutItem", on a JSON body.
func Do(ctx context.Context, eng *engine.Engine, target string, body []byte) Reply {
	if len(body) > MaxBody {
		return failure(&api.Error{Code: api.RequestTooLarge, Message: fmt.Sprintf("Request size exceeds the limit of %d bytes", MaxBody)}, nil)
	}
	operation, ok := operationOf(target)
	if !ok {
		return failure(api.Unknown(target), nil)
	}
	res := eng.Do(ctx, operation, body)
	if res.Err != nil {
		return failure(res.Err, res.Cost)
	}
	return newReply(http.StatusOK, res.Body, res.Cost)
}

func newReply(status int, body []byte, cost capacity.Cost) Reply {
	// The names are in canonical form already, so they need not go through Set,
	// and their values share one array.
	values := [...]string{
		"application/x-amz-json-1.0",
		strconv.Itoa(len(body)),
		requestID(),
		strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10),
		"",
	}
	header := http.Header{
		"Content-Type":     values[0:1:1],
		"Content-Length":   values[1:2:2],
		"X-Amzn-Requestid": values[2:3:3],
		"X-Amz-Crc32":      values[3:4:4],
	}
	if len(cost) > 0 {
		values[4] = string(cost.AppendJSON(make([]byte, 0, 160)))
		header[CapacityHeader] = values[4:5:5]
	}
	return Reply{Status: status, Header: header, Body: body, Cost: cost}
}
