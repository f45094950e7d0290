package ledgersqs

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Message is a delivery of a message. Its JSON is that of a record of Lambda's events.
type Message struct {
	ID         string               `json:"messageId"`
	Receipt    string               `json:"receiptHandle"` // of this delivery; the next has another
	Body       string               `json:"body"`
	Attributes map[string]Attribute `json:"messageAttributes"` // the sender's
	System     map[string]string    `json:"attributes"`        // SQS's own, such as SentTimestamp
}

// Attribute is a value that the sender gave a message beside its body.
type Attribute struct {
	String string `json:"stringValue"` // of a String or a Number
	Binary []byte `json:"binaryValue"`
}

// Group is the message's group, which is "" if it has none.
func (m Message) Group() string { return m.System["MessageGroupId"] }

// Receives is SQS's approximate count of deliveries, with this one.
func (m Message) Receives() int {
	n, _ := strconv.Atoi(m.System["ApproximateReceiveCount"])
	return n
}

// received is the message that the SDK has.
func received(m types.Message) Message {
	attributes := map[string]Attribute{}
	for name, a := range m.MessageAttributes {
		attributes[name] = Attribute{String: aws.ToString(a.StringValue), Binary: a.BinaryValue}
	}
	return Message{aws.ToString(m.MessageId), aws.ToString(m.ReceiptHandle), aws.ToString(m.Body), attributes, m.Attributes}
}

// Event is what Lambda hands to a function: a batch of messages.
type Event struct {
	Records []Message `json:"Records"`
}

// Response names the messages that stay in the queue.
type Response struct {
	Failures []Failure `json:"batchItemFailures"`
}

// Failure is a message that stays.
type Failure struct {
	ID string `json:"itemIdentifier"`
}
