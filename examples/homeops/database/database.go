// Package database decides which DynamoDB the example works on.
package database

import (
	"context"
	"fmt"
	"time"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
)

// DB is a DynamoDB.
type DB struct {
	Client *dynamodb.Client
	Where  string // for people
	// Embedded is the server inside this process, nil on a real one.
	Embedded *dynamotest.Server
}

// Open returns the DynamoDB of DYNAMO_ENDPOINT, which must be one that asks
// for no account; without it AWS's where the environment names credentials;
// else one inside this process on the given clock, which keeps nothing.
func Open(ctx context.Context, cfg config.Config, now func() time.Time, options ...func(*dynamodb.Options)) (DB, error) {
	switch {
	case cfg.Endpoint != "":
		return Endpoint(cfg, options...), nil
	case cfg.AWS:
		loaded, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithRegion(cfg.Region))
		if err != nil {
			return DB{}, fmt.Errorf("AWS credentials: %w", err)
		}
		return DB{Client: dynamodb.NewFromConfig(loaded, options...), Where: "DynamoDB in " + cfg.Region}, nil
	}
	return Embedded(now, options...), nil
}

// Endpoint connects to DYNAMO_ENDPOINT.
func Endpoint(cfg config.Config, options ...func(*dynamodb.Options)) DB {
	region := func(o *dynamodb.Options) { o.Region = cfg.Region }
	options = append([]func(*dynamodb.Options){region}, options...)
	return DB{Client: dynamotest.Connect(cfg.Endpoint, options...), Where: "DynamoDB at " + cfg.Endpoint}
}

// Embedded starts a DynamoDB inside this process.
func Embedded(now func() time.Time, options ...func(*dynamodb.Options)) DB {
	server := dynamotest.NewServer(&dynamotest.Config{Now: now})
	return DB{Client: server.Client(options...), Where: "DynamoDB inside this process", Embedded: server}
}
