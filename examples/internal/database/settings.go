package database

import (
	"errors"
	"slices"

	"github.com/homeops/ddbpatterns/examples/internal/env"
)

// Settings say which DynamoDB to work on.
type Settings struct {
	Endpoint string // DYNAMO_ENDPOINT; "" is AWS if credentials are set, otherwise embedded
	Region   string // DYNAMO_REGION, or else AWS_REGION
	AWS      bool   // the SDK's own variables name credentials, which the SDK reads itself
	AWSError error  // what is wrong with those, for a program that uses them
}

// Embedded reports whether the database is in this process and ends with it.
func (s Settings) Embedded() bool { return s.Endpoint == "" && !s.AWS }

// FromEnv reads the settings. The given region is the default.
func FromEnv(r *env.Reader, region string) Settings {
	s := Settings{
		Endpoint: r.URL("DYNAMO_ENDPOINT", "", "http://127.0.0.1:8000"),
		Region:   r.Text("DYNAMO_REGION", r.Text("AWS_REGION", region, env.Region), env.Region),
	}
	s.AWS, s.AWSError = credentials(r)
	return s
}

// credentials reports whether the environment names AWS credentials, and what
// is wrong with them. A replay never uses them and ignores such errors.
// Profiles in files and roles of the machine do not count: name one with
// AWS_PROFILE.
func credentials(r *env.Reader) (named bool, wrong error) {
	if (r.Value("AWS_ACCESS_KEY_ID") == "") != (r.Value("AWS_SECRET_ACCESS_KEY") == "") {
		return true, errors.New("AWS_ACCESS_KEY_ID: must be set together with AWS_SECRET_ACCESS_KEY")
	}
	return slices.ContainsFunc([]string{
		"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	}, func(name string) bool { return r.Value(name) != "" }), nil
}
