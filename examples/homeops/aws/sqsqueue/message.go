package sqsqueue

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// place is a queue of SQS.
type place struct{ url, name string }

func (p place) failed(operation string, err error) error {
	return fmt.Errorf("sqsqueue: %s on %s: %w", operation, p.name, err)
}

func nameOf(url string) string { return path.Base(url) }

// settings are those of a queue that messages depend on.
func (q *Queue) settings(ctx context.Context, of place) (map[string]string, error) {
	return q.attributes(ctx, of, types.QueueAttributeNameRedrivePolicy, types.QueueAttributeNameMaximumMessageSize)
}

func (q *Queue) attributes(ctx context.Context, of place, names ...types.QueueAttributeName) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, q.cfg.Timeout)
	defer cancel()
	out, err := q.api.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &of.url, AttributeNames: names})
	if err != nil {
		return nil, of.failed("GetQueueAttributes", err)
	}
	return out.Attributes, nil
}

// seconds returns a time to hide in SQS's terms: whole seconds, rounded up.
func seconds(d time.Duration) int32 {
	return int32((clamp(d, 0) + time.Second - 1) / time.Second)
}

func clamp(d, least time.Duration) time.Duration { return max(least, min(d, longestHide)) }

func sendable(attributes map[string]string) map[string]types.MessageAttributeValue {
	values := map[string]types.MessageAttributeValue{}
	for name, value := range attributes {
		values[name] = types.MessageAttributeValue{DataType: aws.String(queue.DataType(name)), StringValue: &value}
	}
	return values
}

// group makes the queue fair: a chat that writes a lot does not delay others. A
// chat that SQS does not accept as a group's id has no group.
func group(attributes map[string]string) *string {
	chat := attributes[queue.ChatID]
	if chat == "" || len(chat) > 128 || strings.ContainsFunc(chat, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil
	}
	return &chat
}

func received(m types.Message) (queue.Message, error) {
	receives, err := strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	if err != nil {
		return queue.Message{}, fmt.Errorf("ApproximateReceiveCount: %w", err)
	}
	sent, err := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64)
	if err != nil {
		return queue.Message{}, fmt.Errorf("SentTimestamp: %w", err)
	}
	attributes := map[string]string{}
	for name, value := range m.MessageAttributes {
		if value.StringValue != nil {
			attributes[name] = *value.StringValue
		}
	}
	return queue.Message{
		ID: aws.ToString(m.MessageId), Body: aws.ToString(m.Body), Attributes: attributes,
		Receives: receives, Receipt: aws.ToString(m.ReceiptHandle), SentAt: time.UnixMilli(sent).UTC(),
	}, nil
}

// isStale reports whether the error means that a receipt no longer names a
// delivery in flight: the message was deleted or moved, or its visibility is
// over. SQS says so in several ways, by the code or in the text of
// InvalidParameterValue.
func isStale(err error) bool {
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		return false
	}
	code := answer.ErrorCode()
	return strings.HasSuffix(code, "ReceiptHandleIsInvalid") || strings.HasSuffix(code, "MessageNotInflight") ||
		strings.HasSuffix(code, "InvalidParameterValue") && strings.Contains(answer.ErrorMessage(), "ReceiptHandle")
}

// inRegion matches the hosts of queues' URLs.
var inRegion = regexp.MustCompile(`^https://sqs\.([a-z]{2}(?:-[a-z]+)+-[0-9]+)\.amazonaws\.com`)

// Region returns the region that a queue's URL names, "" if it names none.
func Region(url string) string {
	if found := inRegion.FindStringSubmatch(url); found != nil {
		return found[1]
	}
	return ""
}
