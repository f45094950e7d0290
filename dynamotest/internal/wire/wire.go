package wire

import (
	"context"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// MaxBody is the most bytes of a request.
const MaxBody = 16 << 20

// prefix begins the targets of the operations.
const prefix = "DynamoDB_20120810."

// CapacityHeader carries what a request cost, refused ones included: a JSON
// array in the form of ConsumedCapacity.
const CapacityHeader = "X-Dynamotest-Capacity"

// A Reply is the answer to a request.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	Cost   engine.Cost
}

// Do performs the operation that target names, "DynamoDB_20120810.PutItem" or
// just "PutItem", on a JSON body.
func Do(ctx context.Context, eng *engine.Engine, target string, body []byte) Reply {
	if len(body) > MaxBody {
		return failure(&api.Error{Code: api.RequestTooLarge, Message: fmt.Sprintf("Request size exceeds the limit of %d bytes", MaxBody)}, nil)
	}
	res := eng.Do(ctx, strings.TrimPrefix(target, prefix), body)
	if res.Err != nil {
		return failure(res.Err, res.Cost)
	}
	return newReply(http.StatusOK, res.Body, res.Cost)
}

func newReply(status int, body []byte, cost engine.Cost) Reply {
	// The keys are in canonical form already, so they need not go through Set.
	header := http.Header{
		"Content-Type":     {"application/x-amz-json-1.0"},
		"Content-Length":   {strconv.Itoa(len(body))},
		"X-Amzn-Requestid": {requestID()},
		"X-Amz-Crc32":      {strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)},
	}
	if len(cost) > 0 {
		header[CapacityHeader] = []string{string(cost.AppendJSON(nil))}
	}
	return Reply{Status: status, Header: header, Body: body, Cost: cost}
}
