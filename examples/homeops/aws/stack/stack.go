// Package stack describes all resources of homeops on AWS in one CloudFormation
// template. Tables and rights come from the same Go values as the code, limits of
// the queue and the functions from its constants.
//
//	stack.go      the template, its parameters and outputs
//	queue.go      the queue, its dead letters and the alarm
//	function.go   the two functions and what they may do
//	endpoint.go   how Telegram reaches the first, what starts the second, and the clock
package stack

import (
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/schema"
)

// object is an object of JSON.
type object = map[string]any

// Write writes the template for the tables of the configuration.
func Write(w io.Writer, cfg config.Config) error {
	template, err := Template(cfg)
	if err != nil {
		return err
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(template)
}

// Template returns the template as JSON values. The same configuration always
// gives the same template.
func Template(cfg config.Config) (map[string]any, error) {
	a, err := stores(cfg)
	if err != nil {
		return nil, err
	}
	tables, err := schema.CloudFormation(tablesOf(a)...)
	if err != nil {
		return nil, err
	}
	rights, err := schema.Policy(a.Stores()...)
	if err != nil {
		return nil, err
	}
	resources := object{}
	for _, part := range []object{tables, queues(), functions(cfg, rights), endpoint(), schedule()} {
		maps.Copy(resources, part)
	}
	return object{
		"AWSTemplateFormatVersion": "2010-09-09",
		"Description":              "homeops: a household's Telegram bot on DynamoDB",
		"Parameters":               parameters(),
		"Conditions":               conditions(),
		"Resources":                resources,
		"Outputs":                  outputs(),
	}, nil
}

// stores makes the stores only for their definitions: no request is sent.
func stores(cfg config.Config) (*app.App, error) {
	return app.New(app.Options{
		Config: cfg, DB: dynamodb.New(dynamodb.Options{Region: cfg.Region}), Now: time.Now,
		Queue: queue.NewMemory(queue.Config{}), Sender: &telegram.Console{}, Log: slog.New(slog.DiscardHandler),
	})
}

// tablesOf returns the tables, with what only an account has: what people wrote is
// encrypted with the key that AWS manages for the account, and CloudTrail shows
// each use of that key.
func tablesOf(a *app.App) []schema.Table {
	tables := a.Tables(true)
	for i := range tables {
		if tables[i].Name == a.Messages.Table().Name {
			tables[i].KMSKey = "alias/aws/dynamodb"
		}
	}
	return tables
}

// Parameters of the template.
const (
	codeBucket      = "CodeBucket"
	codePrefix      = "CodePrefix"
	architecture    = "Architecture"
	secretParameter = "TelegramSecretParameter"
	tokenParameter  = "TelegramTokenParameter"
	endpointKind    = "Endpoint"
	concurrency     = "MaximumConcurrency"
	mappingEnabled  = "MappingEnabled"
	alarmTopic      = "AlarmTopic"
	logDays         = "LogRetentionDays"
)

func parameters() object {
	text := func(description string, more object) object {
		p := object{"Type": "String", "Description": description}
		maps.Copy(p, more)
		return p
	}
	return object{
		codeBucket: text("The bucket that holds the functions' zip files.", object{"MinLength": 3}),
		codePrefix: text("What the names of the zip files begin with there, another for each version.",
			object{"Default": "", "AllowedPattern": "([A-Za-z0-9_.-]+/)*"}),
		architecture: text("What the zip files were built for.",
			object{"Default": "arm64", "AllowedValues": []any{"arm64", "x86_64"}}),
		secretParameter: text("The name of the SecureString that setWebhook was given as secret_token.",
			object{"Default": "/homeops/telegram-secret-token", "AllowedPattern": parameterName}),
		tokenParameter: text("The name of the SecureString that holds the bot's token.",
			object{"Default": "/homeops/telegram-bot-token", "AllowedPattern": parameterName}),
		endpointKind: text("How Telegram reaches the webhook: FunctionUrl, HttpApi, or None for an endpoint of your own.",
			object{"Default": "FunctionUrl", "AllowedValues": []any{"FunctionUrl", "HttpApi", "None"}}),
		concurrency: object{
			"Type": "Number", "MinValue": 2, "MaxValue": 1000,
			"Description": "How many messages are worked on at once, at most. It has no default, because it bounds what a flood costs.",
		},
		mappingEnabled: text("Whether the worker is fed from the queue.",
			object{"Default": "true", "AllowedValues": []any{"true", "false"}}),
		alarmTopic: text("The ARN of an SNS topic that is told of dead letters; empty for none.", object{"Default": ""}),
		logDays: object{
			"Type": "Number", "Default": 30, "AllowedValues": []any{1, 3, 5, 7, 14, 30, 60, 90, 180, 365},
			"Description": "How many days logs are kept.",
		},
	}
}

// parameterName matches a path of Systems Manager: the ARN in the policy is made
// of it.
const parameterName = "(/[A-Za-z0-9_.-]+)+"

// Conditions of the template.
const (
	hasURL   = "HasFunctionUrl"
	hasAPI   = "HasHttpApi"
	hasTopic = "HasAlarmTopic"
)

func conditions() object {
	return object{
		hasURL:   object{"Fn::Equals": []any{ref(endpointKind), "FunctionUrl"}},
		hasAPI:   object{"Fn::Equals": []any{ref(endpointKind), "HttpApi"}},
		hasTopic: object{"Fn::Not": []any{object{"Fn::Equals": []any{ref(alarmTopic), ""}}}},
	}
}

func outputs() object {
	return object{
		"FunctionUrl": object{
			"Condition":   hasURL,
			"Description": "What homeops webhook is given, and setWebhook.",
			"Value":       sub("${IngestUrl.FunctionUrl}" + strings.TrimPrefix(ingest.Path, "/")), // which ends in a slash
		},
		"HttpApi": object{
			"Condition":   hasAPI,
			"Description": "What homeops webhook is given, and setWebhook.",
			"Value":       sub("${HttpApi.ApiEndpoint}" + ingest.Path), // which does not
		},
		"QueueUrl": object{
			"Description": "MESSAGES_QUEUE_URL of homeops dlq.",
			"Value":       ref("MessagesQueue"),
		},
	}
}

func ref(name string) object            { return object{"Ref": name} }
func att(name, attribute string) object { return object{"Fn::GetAtt": []any{name, attribute}} }
func sub(text string) object            { return object{"Fn::Sub": text} }
