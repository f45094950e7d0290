// Package coldstart does what both functions need before their first invocation:
// it reads the configuration, the secret and the queue's settings. All later
// invocations of the process use what it opened.
//
// The environment is that of homeops (package config), except for secrets.
// Everybody who may look at a function sees its variables. So instead of a secret
// NAME they hold NAME_PARAMETER, the name of a SecureString in SSM's Parameter
// Store:
//
//	TELEGRAM_SECRET_TOKEN_PARAMETER  of homeops-ingest
//	TELEGRAM_BOT_TOKEN_PARAMETER     of homeops-worker
//
// MESSAGES_QUEUE_URL must be set, and the database must be outside the process.
package coldstart

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/secrets"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/sqsqueue"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
)

// Limit is how long a cold start may take: Lambda gives it ten seconds.
const Limit = 9 * time.Second

// The secrets, by their variables. The variable with a secret's name in SSM ends
// in Parameter.
const (
	SecretToken = "TELEGRAM_SECRET_TOKEN"
	BotToken    = "TELEGRAM_BOT_TOKEN"
	Parameter   = "_PARAMETER"
)

// lookup is os.LookupEnv.
type lookup = func(string) (string, bool)

// Function is what a function works with.
type Function struct {
	Config config.Config // with the secret as it was at the start
	Secret *secrets.Secret
	Queue  *sqsqueue.Queue
}

// Open reads the environment, the secret with the given name (one of the
// above), and the queue's settings: four requests.
func Open(ctx context.Context, env lookup, secret string, log *slog.Logger) (*Function, error) {
	cfg, parameter, err := load(env, secret)
	if err != nil {
		return nil, err
	}
	loaded, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithRegion(cfg.Region))
	if err != nil {
		return nil, fmt.Errorf("AWS: %w", err)
	}
	return open(ctx, loaded, cfg, env, secret, parameter, log)
}

func open(ctx context.Context, at aws.Config, cfg config.Config, env lookup, name, parameter string, log *slog.Logger) (*Function, error) {
	secret, err := secrets.Open(ctx, ssm.NewFromConfig(at), parameter, secrets.Config{Check: valid(name), Log: log})
	if err != nil {
		return nil, err
	}
	value := secret.Value(ctx)
	if cfg, err = config.Load(with(env, name, value)); err != nil {
		return nil, err
	}
	if region := sqsqueue.Region(cfg.QueueURL); region != "" {
		at.Region = region // which may differ from that of the tables
	}
	queue, err := sqsqueue.Open(ctx, sqs.NewFromConfig(at), cfg.QueueURL, &sqsqueue.Config{Log: log})
	if err != nil {
		return nil, err
	}
	return &Function{Config: cfg, Secret: secret, Queue: queue}, nil
}

// load reads the environment, and returns all errors in it.
func load(env lookup, secret string) (cfg config.Config, parameter string, _ error) {
	cfg, err := config.Load(env)
	if err != nil {
		return cfg, "", err
	}
	parameter, _ = env(secret + Parameter)
	var errs []error
	if parameter == "" {
		errs = append(errs, fmt.Errorf("%s: must be set, to the name of a SecureString in SSM's Parameter Store", secret+Parameter))
	}
	for _, name := range []string{SecretToken, BotToken} {
		if value, _ := env(name); value != "" {
			errs = append(errs, fmt.Errorf("%s: must not be set, because everybody who may look at the function would see it: set %s to the name of the SecureString that holds it", name, name+Parameter))
		}
	}
	if cfg.QueueURL == "" {
		errs = append(errs, errors.New("MESSAGES_QUEUE_URL: must be set, to the queue between the functions"))
	}
	if cfg.Classifier != config.Words {
		errs = append(errs, errors.New("CLASSIFIER: must be words, because a function has only the vocabulary; cmd/homeops can use openai"))
	}
	if cfg.Embedded() {
		errs = append(errs, errors.New("DYNAMO_ENDPOINT: must be set if there are no AWS credentials: a database inside the function would end with the function"))
	}
	return cfg, parameter, errors.Join(append(errs, cfg.AWSError)...)
}

// valid returns the check that package config has for the variable.
func valid(name string) func(value string) error {
	return func(value string) error {
		_, err := config.Load(with(nothing, name, value))
		return err
	}
}

func nothing(string) (string, bool) { return "", false }

// with returns the environment with one more variable.
func with(env lookup, name, value string) lookup {
	return func(asked string) (string, bool) {
		if asked == name {
			return value, true
		}
		return env(asked)
	}
}
