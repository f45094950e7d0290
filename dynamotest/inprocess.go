package dynamotest

import (
	"context"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithyauth "github.com/aws/smithy-go/auth"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
)

// stayInProcess makes a client's calls end in a transport, and leaves out what
// only a network needs.
func stayInProcess(o *dynamodb.Options, transport http.RoundTripper) {
	o.HTTPClient = direct{transport}
	o.EndpointResolverV2 = here{}
	o.AuthSchemeResolver = unsigned{}
	o.DisableValidateResponseChecksum = true
}

// direct is an HTTP client without what an http.Client does for the network:
// redirects, cookies, its own timeout.
type direct struct{ http.RoundTripper }

func (d direct) Do(r *http.Request) (*http.Response, error) { return d.RoundTrip(r) }

// here is the endpoint, whatever the rules for regions and accounts would say.
type here struct{}

func (here) ResolveEndpoint(context.Context, dynamodb.EndpointParameters) (smithyendpoints.Endpoint, error) {
	return smithyendpoints.Endpoint{URI: url.URL{Scheme: "http", Host: "dynamotest.invalid"}}, nil
}

// unsigned sends requests without a signature, which nobody would check.
type unsigned struct{}

func (unsigned) ResolveAuthSchemes(context.Context, *dynamodb.AuthResolverParameters) ([]*smithyauth.Option, error) {
	return []*smithyauth.Option{{SchemeID: smithyauth.SchemeIDAnonymous}}, nil
}
