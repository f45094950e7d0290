package wire

import (
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// MaxBody is the most bytes of a request.
const MaxBody = 16 << 20

// The prefixes of the targets of operations: those on tables and items, and
// those on streams, which are another service at the same address.
const (
	prefix        = "DynamoDB_20120810."
	streamsPrefix = "DynamoDBStreams_20120810."
)

// operationOf returns the name of the operation in a target. The prefix may be
// missing.
func operationOf(target string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(target, prefix); ok {
		return name, !api.OperationNamed(name).Has(api.Streams)
	}
	if name, ok = strings.CutPrefix(target, streamsPrefix); ok {
		return name, api.OperationNamed(name).Has(api.Streams)
	}
	return target, true
}

// CapacityHeader has the capacity that a request consumed, even if it was
// refused: a JSON array in the form of ConsumedCapacity. A reply has the header
// if the request has it, with any value.
const CapacityHeader = "X-Dynamotest-Capacity"

// A Reply is the answer to a request.
type Reply struct {
	Status int
	Body   []byte
	Cost   capacity.Cost

	encoding string // of the body, if it has one
}

// Do performs the operation that target names, "DynamoDB_20120810.PutItem" or
// just "PutItem", on a JSON body.
func Do(ctx context.Context, eng *engine.Engine, target string, body []byte) Reply {
	return do(ctx, eng, target, body, nil)
}

// do is Do, and writes the reply into the memory of a buffer, as far as it
// suffices.
func do(ctx context.Context, eng *engine.Engine, target string, body, buffer []byte) Reply {
	if len(body) > MaxBody {
		return failure(&api.Error{Code: api.RequestTooLarge, Message: fmt.Sprintf("Request size exceeds the limit of %d bytes", MaxBody)}, nil)
	}
	operation, ok := operationOf(target)
	if !ok {
		return failure(api.Unknown(target), nil)
	}
	res := eng.DoInto(ctx, operation, body, buffer)
	if res.Err != nil {
		return failure(res.Err, res.Cost)
	}
	return Reply{Status: http.StatusOK, Body: res.Body, Cost: res.Cost}
}

// writeHeader adds the header of the reply to a request with the header asked.
func (r *Reply) writeHeader(header, asked http.Header) {
	// All values that differ each time are parts of one string.
	text := appendRequestID(make([]byte, 0, 80))
	text = strconv.AppendInt(text, int64(len(r.Body)), 10)
	length := len(text)
	text = strconv.AppendUint(text, uint64(crc32.ChecksumIEEE(r.Body)), 10)
	all := string(text)
	// The names are in canonical form already, so Set is not necessary, and
	// their values share one array.
	values := [...]string{amzJSON, all[idLength:length], all[:idLength], all[length:]}
	header["Content-Type"] = values[0:1:1]
	header["Content-Length"] = values[1:2:2]
	header["X-Amzn-Requestid"] = values[2:3:3]
	header["X-Amz-Crc32"] = values[3:4:4]
	if r.encoding != "" {
		header["Content-Encoding"] = []string{r.encoding}
	}

	if _, wanted := asked[CapacityHeader]; wanted && len(r.Cost) > 0 {
		header[CapacityHeader] = []string{string(r.Cost.AppendJSON(nil))}
	}
}

const idLength = 52

// appendRequestID appends 52 characters that identify a request. They need not be
// hard to guess.
func appendRequestID(dst []byte) []byte {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
	var bits uint64
	for i := range idLength {
		if i%12 == 0 { // a draw has enough bits for twelve characters of five bits
			bits = rand.Uint64()
		}
		dst = append(dst, alphabet[bits%32])
		bits /= 32
	}
	return dst
}
