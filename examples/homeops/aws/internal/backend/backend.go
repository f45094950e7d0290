// Package backend gives tests of this module the servers that scripts/aws
// starts: where they are, and how to get a queue there.
package backend

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

var required = flag.Bool("required", false, "fail instead of skipping if the environment names no server")

// The servers: their names are the variables that hold their endpoints.
const (
	ElasticMQ = "ELASTICMQ_ENDPOINT" // SQS
	Moto      = "MOTO_ENDPOINT"      // SQS, CloudFormation, DynamoDB, …
)

// Region and credentials are those that the servers accept as an account.
const (
	Region = "eu-north-1"
	Key    = "local"
)

// Server is a running server.
type Server struct{ Endpoint string }

// Open returns the server whose endpoint the variable holds. Without it the
// test is skipped, or fails if tests run with -required.
func Open(t *testing.T, variable string) Server {
	t.Helper()
	endpoint := os.Getenv(variable)
	switch {
	case endpoint != "":
	case *required:
		t.Fatalf("%s is not set: scripts/aws starts the servers", variable)
	default:
		t.Skipf("NOTHING RAN, because %s is not set: scripts/aws starts the servers (-required makes this a failure)", variable)
	}
	return Server{Endpoint: endpoint}
}

// OnEachSQS runs a test on every server that has queues.
func OnEachSQS(t *testing.T, test func(t *testing.T, s Server)) {
	t.Helper()
	for name, variable := range map[string]string{"elasticmq": ElasticMQ, "moto": Moto} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, Open(t, variable))
		})
	}
}

// Config returns the configuration for the SDK's clients of any service.
func (s Server) Config() aws.Config {
	return aws.Config{
		Region: Region, BaseEndpoint: &s.Endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(Key, Key, ""),
	}
}

// Environment returns the environment of a process whose queues are on the
// server.
func (s Server) Environment() map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL_SQS": s.Endpoint, "AWS_REGION": Region,
		"AWS_ACCESS_KEY_ID": Key, "AWS_SECRET_ACCESS_KEY": Key,
	}
}

// Queue is a queue with a dead-letter queue.
type Queue struct{ URL, DeadURL string }

// NewQueue makes both, empty and only for this test, and deletes them at its
// end.
func (s Server) NewQueue(t *testing.T, visibility time.Duration, maxReceives int) Queue {
	t.Helper()
	client := sqs.NewFromConfig(s.Config())
	name := "test-" + strings.ToLower(rand.Text())
	create := func(name string, attributes map[string]string) string {
		out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		if err != nil {
			t.Fatalf("creating %s: %v", name, err)
		}
		t.Cleanup(func() {
			_, _ = client.DeleteQueue(context.WithoutCancel(t.Context()), &sqs.DeleteQueueInput{QueueUrl: out.QueueUrl})
		})
		return *out.QueueUrl
	}
	dead := create(name+"-dlq", nil)
	found, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &dead, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		t.Fatal(err)
	}
	policy, err := json.Marshal(map[string]any{
		"deadLetterTargetArn": found.Attributes[string(types.QueueAttributeNameQueueArn)], "maxReceiveCount": maxReceives,
	})
	if err != nil {
		t.Fatal(err)
	}
	return Queue{DeadURL: dead, URL: create(name, map[string]string{
		string(types.QueueAttributeNameRedrivePolicy):     string(policy),
		string(types.QueueAttributeNameVisibilityTimeout): strconv.Itoa(int(visibility / time.Second)),
	})}
}
