package wire

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// The encodings of bodies. The field's "deflate" is zlib's format, see RFC 9110.
const (
	gzipped  = "gzip"
	deflated = "deflate"
)

var (
	errEncoding = errors.New("the Content-Encoding is neither gzip nor deflate")
	errTrailing = errors.New("something stands after the end of the body")
)

// decoded decodes a body in the encoding of its request.
func decoded(body []byte, encoding string) ([]byte, error) {
	var r io.ReadCloser
	var err error
	in := bytes.NewReader(body)
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case gzipped:
		r, err = gzip.NewReader(in)
	case deflated:
		r, err = zlib.NewReader(in)
	default:
		return nil, errEncoding
	}

	if err != nil {
		return nil, err
	}

	// One byte more than MaxBody is enough: do refuses such a body as too long. What
	// is left of in is then the rest of the body, and nothing after its end.
	out, err := io.ReadAll(io.LimitReader(r, MaxBody+1))
	if err == nil && len(out) <= MaxBody && in.Len() > 0 {
		err = errTrailing
	}

	return out, err
}

// compressFrom is the least bytes of a body that DynamoDB compresses, if the client
// asks for it.
const compressFrom = 4 << 10

// encode compresses a body that is long enough, if the client accepts that. The
// checksum is that of the compressed body.
func (r *Reply) encode(accepts string) {
	if len(r.Body) < compressFrom || accepts == "" {
		return
	}

	var buf bytes.Buffer
	var w io.WriteCloser
	encoding := chosen(accepts)
	switch encoding {
	case gzipped:
		w = gzip.NewWriter(&buf)
	case deflated:
		w = zlib.NewWriter(&buf)
	default:
		return
	}

	_, _ = w.Write(r.Body) // a buffer never fails
	_ = w.Close()
	r.Body = buf.Bytes()
	r.encoding = encoding
}

// chosen returns the first supported encoding that a client accepts, or "".
func chosen(accepts string) string {
	for part := range strings.SplitSeq(accepts, ",") {
		name, weight, _ := strings.Cut(part, ";")
		if q, ok := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q="); ok {
			if value, err := strconv.ParseFloat(q, 64); err != nil || value == 0 {
				continue
			}
		}
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case gzipped, deflated:
			return name
		case "*":
			return gzipped
		}
	}
	return ""
}

// allow lets scripts of any site read a reply, as DynamoDB does: an SDK in a
// browser needs that.
func allow(header http.Header, r *http.Request) {
	if r.Header["Origin"] == nil {
		return
	}

	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "x-amzn-RequestId,x-amz-crc32,x-amzn-ErrorType,Date,"+CapacityHeader)
	if r.Method != http.MethodOptions {
		return
	}

	header.Set("Access-Control-Max-Age", "172800")
	for asked, allowed := range map[string]string{
		"Access-Control-Request-Method":  "Access-Control-Allow-Methods",
		"Access-Control-Request-Headers": "Access-Control-Allow-Headers",
	} {
		if value := r.Header.Get(asked); value != "" {
			header.Set(allowed, value)
		}
	}
}
