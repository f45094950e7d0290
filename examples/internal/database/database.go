// Package database decides which DynamoDB an example works on.
package database

import (
	"context"
	"fmt"
	"time"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// DB is a DynamoDB to work on.
type DB struct {
	Client *dynamodb.Client
	Where  string // for people
	// Embedded is the server inside this process, or nil.
	Embedded *dynamotest.Server
}

// Open returns the DynamoDB of DYNAMO_ENDPOINT, which must not need an account.
// Without that variable it returns AWS's if the environment names credentials,
// and otherwise one inside this process with the given clock, which ends with
// the process.
func Open(ctx context.Context, s Settings, now func() time.Time, options ...func(*dynamodb.Options)) (DB, error) {
	switch {
	case s.Endpoint != "":
		return Endpoint(s, options...), nil
	case s.AWS:
		loaded, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithRegion(s.Region))
		if err != nil {
			return DB{}, fmt.Errorf("AWS credentials: %w", err)
		}
		return DB{Client: dynamodb.NewFromConfig(loaded, options...), Where: "DynamoDB in " + s.Region}, nil
	}
	return Embedded(now, options...), nil
}

// Endpoint connects to DYNAMO_ENDPOINT.
func Endpoint(s Settings, options ...func(*dynamodb.Options)) DB {
	region := func(o *dynamodb.Options) { o.Region = s.Region }
	options = append([]func(*dynamodb.Options){region}, options...)
	return DB{Client: dynamotest.Connect(s.Endpoint, options...), Where: "DynamoDB at " + s.Endpoint}
}

// Embedded starts a DynamoDB inside this process.
func Embedded(now func() time.Time, options ...func(*dynamodb.Options)) DB {
	server := dynamotest.NewServer(&dynamotest.Config{Now: now})
	return DB{Client: server.Client(options...), Where: "DynamoDB inside this process", Embedded: server}
}
