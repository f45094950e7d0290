package dynamotest

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
)

// here is the endpoint of clients in process.
var here = url.URL{Scheme: "http", Host: "dynamotest.invalid"}

// stayInProcess sends a client's calls to a transport, and leaves out what only
// a network needs. If later options give the client another endpoint, nothing
// is left out.
func stayInProcess(o *dynamodb.Options, transport http.RoundTripper) {
	o.HTTPClient = direct{transport}
	o.EndpointResolverV2 = resolver{dynamodb.NewDefaultEndpointResolverV2()}
	o.HTTPSignerV4 = signer{v4.NewSigner()}
	o.DisableValidateResponseChecksum = true
}

// direct is an HTTP client without what an http.Client does for the network:
// redirects, cookies, its own timeout.
type direct struct{ http.RoundTripper }

func (d direct) Do(r *http.Request) (*http.Response, error) { return d.RoundTrip(r) }

// A resolver asks the rules for regions and accounts only if the endpoint is not
// in process.
type resolver struct{ rules dynamodb.EndpointResolverV2 }

func (r resolver) ResolveEndpoint(ctx context.Context, params dynamodb.EndpointParameters) (smithyendpoints.Endpoint, error) {
	if aws.ToString(params.Endpoint) == here.String() {
		return smithyendpoints.Endpoint{URI: here}, nil
	}
	return r.rules.ResolveEndpoint(ctx, params)
}

// A signer leaves requests to the in-process endpoint unsigned, because the
// server would not check.
type signer struct{ dynamodb.HTTPSignerV4 }

func (s signer) SignHTTP(
	ctx context.Context, creds aws.Credentials, r *http.Request, hash, service, region string, at time.Time, options ...func(*v4.SignerOptions),
) error {
	if r.URL.Host == here.Host {
		return nil
	}
	return s.HTTPSignerV4.SignHTTP(ctx, creds, r, hash, service, region, at, options...)
}
