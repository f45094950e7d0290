package stack

import (
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// Names of the queues.
const (
	queueName = "homeops-messages"
	dlqName   = "homeops-messages-dlq"
)

// How long messages are kept. A dead letter's time counts from when the message
// was first sent, so it must be longer.
const (
	kept     = 4 * 24 * time.Hour
	deadKept = 14 * 24 * time.Hour
)

const sqsARN = "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:"

func queues() object {
	return object{
		"MessagesQueue": object{
			"Type":                "AWS::SQS::Queue",
			"DeletionPolicy":      "Delete",
			"UpdateReplacePolicy": "Delete",
			"Properties": object{
				"QueueName":              queueName,
				"VisibilityTimeout":      seconds(queue.Visibility),
				"MessageRetentionPeriod": seconds(kept),
				"MaximumMessageSize":     queue.MaxBytes,
				"SqsManagedSseEnabled":   true,
				"RedrivePolicy": object{
					"deadLetterTargetArn": att("MessagesDeadLetters", "Arn"),
					"maxReceiveCount":     queue.MaxReceives,
				},
			},
		},
		"MessagesDeadLetters": object{
			"Type":                "AWS::SQS::Queue",
			"DeletionPolicy":      "Retain", // nobody has read them yet
			"UpdateReplacePolicy": "Retain",
			"Properties": object{
				"QueueName":              dlqName,
				"VisibilityTimeout":      seconds(queue.Visibility),
				"MessageRetentionPeriod": seconds(deadKept),
				"MaximumMessageSize":     queue.MaxBytes,
				"SqsManagedSseEnabled":   true,
				// By name: by GetAtt each of the queues would wait for the other.
				"RedriveAllowPolicy": object{
					"redrivePermission": "byQueue",
					"sourceQueueArns":   []any{sub(sqsARN + queueName)},
				},
			},
		},
		"DeadLettersAlarm": object{
			"Type": "AWS::CloudWatch::Alarm",
			"Properties": object{
				"AlarmName":          "homeops-dlq-depth",
				"AlarmDescription":   "There are dead letters: homeops dlq list shows them.",
				"Namespace":          "AWS/SQS",
				"MetricName":         "ApproximateNumberOfMessagesVisible",
				"Dimensions":         []any{object{"Name": "QueueName", "Value": att("MessagesDeadLetters", "QueueName")}},
				"Statistic":          "Maximum",
				"Period":             60,
				"EvaluationPeriods":  1,
				"Threshold":          0,
				"ComparisonOperator": "GreaterThanThreshold",
				"TreatMissingData":   "notBreaching",
				"AlarmActions":       object{"Fn::If": []any{hasTopic, []any{ref(alarmTopic)}, ref("AWS::NoValue")}},
			},
		},
	}
}

func seconds(d time.Duration) int { return int(d / time.Second) }
