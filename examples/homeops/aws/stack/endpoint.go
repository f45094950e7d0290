package stack

import (
	"maps"
	"slices"

	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
)

// endpoint returns how Telegram reaches the webhook: by a function URL or an HTTP
// API, each with its condition. Both are open to anybody; the webhook's secret
// verifies the sender.
func endpoint() object {
	resources := object{
		"IngestUrl": object{
			"Type": "AWS::Lambda::Url", "Condition": hasURL,
			"Properties": object{"AuthType": "NONE", "TargetFunctionArn": att("IngestFunction", "Arn")},
		},
		// A URL made since October 2025 needs both.
		"IngestUrlPermission": permission(hasURL, "IngestFunction", object{
			"Action": "lambda:InvokeFunctionUrl", "Principal": "*", "FunctionUrlAuthType": "NONE",
		}),
		"IngestUrlInvokePermission": permission(hasURL, "IngestFunction", object{
			"Action": "lambda:InvokeFunction", "Principal": "*", "InvokedViaFunctionUrl": true,
		}),
	}
	maps.Copy(resources, httpAPI())
	return resources
}

func httpAPI() object {
	return object{
		"HttpApi": object{
			"Type": "AWS::ApiGatewayV2::Api", "Condition": hasAPI,
			"Properties": object{"Name": "homeops", "ProtocolType": "HTTP"},
		},
		"HttpApiIntegration": object{
			"Type": "AWS::ApiGatewayV2::Integration", "Condition": hasAPI,
			"Properties": object{
				"ApiId": ref("HttpApi"), "IntegrationType": "AWS_PROXY",
				"IntegrationUri": att("IngestFunction", "Arn"), "PayloadFormatVersion": "2.0",
			},
		},
		"HttpApiRoute": object{
			"Type": "AWS::ApiGatewayV2::Route", "Condition": hasAPI,
			"Properties": object{
				"ApiId": ref("HttpApi"), "RouteKey": "POST " + ingest.Path, "AuthorizationType": "NONE",
				"Target": sub("integrations/${HttpApiIntegration}"),
			},
		},
		"HttpApiStage": object{
			"Type": "AWS::ApiGatewayV2::Stage", "Condition": hasAPI,
			"Properties": object{"ApiId": ref("HttpApi"), "StageName": "$default", "AutoDeploy": true},
		},
		"HttpApiPermission": permission(hasAPI, "IngestFunction", object{
			"Action": "lambda:InvokeFunction", "Principal": "apigateway.amazonaws.com",
			"SourceArn": sub("arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${HttpApi}/*/POST" + ingest.Path),
		}),
	}
}

func permission(condition, function string, properties object) object {
	return object{
		"Type": "AWS::Lambda::Permission", "Condition": condition,
		"Properties": with(properties, object{"FunctionName": att(function, "Arn")}),
	}
}

// schedule returns what starts the worker: the queue, to which the clock also
// sends.
func schedule() object {
	return object{
		"WorkerMapping": object{
			"Type": "AWS::Lambda::EventSourceMapping",
			"Properties": object{
				"EventSourceArn":                 att("MessagesQueue", "Arn"),
				"FunctionName":                   ref("WorkerFunction"),
				"Enabled":                        ref(mappingEnabled),
				"BatchSize":                      1,
				"MaximumBatchingWindowInSeconds": 0,
				"FunctionResponseTypes":          []any{"ReportBatchItemFailures"},
				"ScalingConfig":                  object{"MaximumConcurrency": ref(concurrency)},
			},
		},
		"JobsSchedule": object{
			"Type": "AWS::Events::Rule",
			"Properties": object{
				"Name":               "homeops-jobs",
				"Description":        "What is due, at every full hour.",
				"ScheduleExpression": "cron(0 * * * ? *)",
				"Targets": []any{object{
					"Id": "queue", "Arn": att("MessagesQueue", "Arn"),
					"InputTransformer": object{ // which puts the time in quotes
						"InputPathsMap": object{"due": "$.time"},
						"InputTemplate": `{"job":"` + job.Hourly + `","due":<due>}`,
					},
					"RetryPolicy": object{"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 3600},
				}},
			},
		},
		"JobsQueuePolicy": object{
			"Type": "AWS::SQS::QueuePolicy",
			"Properties": object{
				"Queues": []any{ref("MessagesQueue")},
				"PolicyDocument": policy(with(allow([]string{"sqs:SendMessage"}, att("MessagesQueue", "Arn")), object{
					"Principal": object{"Service": "events.amazonaws.com"},
					"Condition": object{"ArnEquals": object{"aws:SourceArn": att("JobsSchedule", "Arn")}},
				})),
			},
		},
	}
}

// named returns the policies as a role takes them, sorted.
func named(policies object) []any {
	var list []any
	for _, name := range slices.Sorted(maps.Keys(policies)) {
		list = append(list, object{"PolicyName": name, "PolicyDocument": policies[name]})
	}
	return list
}
