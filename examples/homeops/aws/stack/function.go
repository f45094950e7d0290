package stack

import (
	"maps"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/coldstart"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/schema"
)

const memoryMB = 256

// functions returns the two functions, each with a log and a role of its own.
func functions(cfg config.Config, rights schema.PolicyDocument) object {
	resources := object{}
	maps.Copy(resources, function("Ingest", "homeops-ingest", secretParameter,
		object{coldstart.SecretToken + coldstart.Parameter: ref(secretParameter)},
		object{
			"homeops-queue": policy(
				allow([]string{"sqs:SendMessage", "sqs:GetQueueAttributes"}, att("MessagesQueue", "Arn")),
				allow([]string{"sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"}, att("MessagesDeadLetters", "Arn"))),
		}))
	maps.Copy(resources, function("Worker", "homeops-worker", tokenParameter,
		with(variables(cfg), object{coldstart.BotToken + coldstart.Parameter: ref(tokenParameter)}),
		object{
			"homeops-tables": object{"Version": rights.Version, "Statement": rights.Statement},
			"homeops-queue": policy(
				allow([]string{"sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"}, att("MessagesQueue", "Arn")),
				allow([]string{"sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"}, att("MessagesDeadLetters", "Arn"))),
		}))
	return resources
}

// variables returns what the configuration decides for the worker: the tables, and
// how the bot behaves. The secrets, the region and the credentials come from
// elsewhere.
func variables(cfg config.Config) object {
	variables := object{
		"MESSAGES_TABLE_NAME":          cfg.MessagesTable,
		"ACTIVITIES_TABLE_NAME":        cfg.ActivitiesTable,
		"RESPONSE_COUNTERS_TABLE_NAME": cfg.CountersTable,
		"HOMEOPS_TABLE_NAME":           cfg.HomeopsTable,
		"DYNAMO_TABLE_NAME":            cfg.LedgerTable,
		"DYNAMO_TTL_DAYS":              strconv.Itoa(int(cfg.LedgerRetention / (24 * time.Hour))),
		"QUIET_HOURS":                  cfg.Quiet.String(),
		"TELEGRAM_API_URL":             cfg.TelegramAPI,
	}
	if cfg.MessagesRetention > 0 {
		variables["MESSAGES_TTL_DAYS"] = strconv.Itoa(int(cfg.MessagesRetention / (24 * time.Hour)))
	}
	return variables
}

func with(a, b object) object {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

// function returns a function with its log and its role, which may read one
// secret.
func function(id, name, secret string, environment, policies object) object {
	environment = with(environment, object{"MESSAGES_QUEUE_URL": ref("MessagesQueue")})
	policies = with(policies, object{
		"homeops-secret": policy(allow([]string{"ssm:GetParameter"}, sub("arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${"+secret+"}"))),
		"homeops-log":    policy(allow([]string{"logs:CreateLogStream", "logs:PutLogEvents"}, att(id+"Log", "Arn"))),
	})
	return object{
		id + "Function": object{
			"Type": "AWS::Lambda::Function",
			"Properties": object{
				"FunctionName":  name,
				"Runtime":       "provided.al2023",
				"Handler":       "bootstrap",
				"Architectures": []any{ref(architecture)},
				"Code":          object{"S3Bucket": ref(codeBucket), "S3Key": sub("${" + codePrefix + "}" + name + ".zip")},
				"MemorySize":    memoryMB,
				"Timeout":       seconds(worker.PerItem),
				"Role":          att(id+"Role", "Arn"),
				"Environment":   object{"Variables": environment},
				"LoggingConfig": object{"LogGroup": ref(id + "Log"), "LogFormat": "Text"}, // what it writes is JSON already
			},
		},
		id + "Log": object{
			"Type":                "AWS::Logs::LogGroup",
			"DeletionPolicy":      "Delete",
			"UpdateReplacePolicy": "Delete",
			"Properties":          object{"LogGroupName": "/aws/lambda/" + name, "RetentionInDays": ref(logDays)},
		},
		id + "Role": object{
			"Type": "AWS::IAM::Role",
			"Properties": object{
				"AssumeRolePolicyDocument": policy(object{
					"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": object{"Service": "lambda.amazonaws.com"},
				}),
				"Policies": named(policies),
			},
		},
	}
}

func allow(actions []string, resource any) object {
	return object{"Effect": "Allow", "Action": actions, "Resource": resource}
}

func policy(statements ...any) object {
	return object{"Version": "2012-10-17", "Statement": statements}
}
