package function

import (
	"bytes"
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// HTTP returns the function behind a function URL, or behind an HTTP API with
// payload format 2.0. It answers what the handler answers. The request's context
// ends [Margin] before the invocation does. The response is buffered, and is
// sent when the handler returns.
func HTTP(handler http.Handler) func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return func(ctx context.Context, in events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		ctx, cancel := inTime(ctx)
		defer cancel()
		out := &response{header: http.Header{}, head: in.RequestContext.HTTP.Method == http.MethodHead}
		request, err := requestOf(ctx, in)
		if err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
		} else {
			handler.ServeHTTP(out, request)
		}
		return out.event(), nil
	}
}

// requestOf returns the request as net/http's server would hand it over.
func requestOf(ctx context.Context, in events.APIGatewayV2HTTPRequest) (*http.Request, error) {
	body := []byte(in.Body)
	if in.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(in.Body); err != nil {
			return nil, err
		}
	}
	from := in.RequestContext.HTTP
	request, err := http.NewRequestWithContext(ctx, from.Method, "/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.URL = target(in)
	request.RequestURI = request.URL.RequestURI()
	request.RemoteAddr = net.JoinHostPort(from.SourceIP, "0")
	for name, value := range in.Headers { // repeated ones are joined by commas already
		request.Header.Set(name, value)
	}
	if len(in.Cookies) > 0 {
		request.Header.Set("Cookie", strings.Join(in.Cookies, "; "))
	}
	request.Host = request.Header.Get("Host")
	request.Header.Del("Host")
	if request.Host == "" {
		request.Host = in.RequestContext.DomainName
	}
	return request, nil
}

// target returns the path as it was written, with its escapes, and the query. A
// path with invalid escapes is taken literally.
func target(in events.APIGatewayV2HTTPRequest) *url.URL {
	u := &url.URL{Path: in.RawPath, RawQuery: in.RawQueryString}
	if path, err := url.PathUnescape(in.RawPath); err == nil {
		u.Path, u.RawPath = path, in.RawPath
	}
	return u
}

// response is the http.ResponseWriter of one request.
type response struct {
	header http.Header // the handler's
	sent   http.Header // as it was when the status was written
	status int
	body   bytes.Buffer
	head   bool // the request was HEAD: nothing that is written goes out
}

// Header implements http.ResponseWriter.
func (r *response) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter. The first final status counts.
func (r *response) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status, r.sent = status, r.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (r *response) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.status == http.StatusNoContent || r.status == http.StatusNotModified {
		return 0, http.ErrBodyNotAllowed
	}
	return r.body.Write(p)
}

// event returns the response as Lambda wants it: payload format 2.0 has one
// value for each header, and a list of cookies.
func (r *response) event() events.APIGatewayV2HTTPResponse {
	r.WriteHeader(http.StatusOK)
	if _, named := r.sent["Content-Type"]; !named && r.body.Len() > 0 && r.sent.Get("Content-Encoding") == "" {
		r.sent.Set("Content-Type", http.DetectContentType(r.body.Bytes()))
	}
	if r.head {
		r.body.Reset()
	}
	out := events.APIGatewayV2HTTPResponse{StatusCode: r.status, Headers: map[string]string{}, Body: r.body.String()}
	for name, values := range r.sent {
		if name == "Set-Cookie" {
			out.Cookies = values
		} else {
			out.Headers[name] = strings.Join(values, ", ")
		}
	}
	if !utf8.ValidString(out.Body) {
		out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(r.body.Bytes()), true
	}
	return out
}
