package endtoend

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

const (
	secretToken = "s3cret"
	botToken    = "42:b0t-tok3n"
)

// world is everything that the functions talk to.
type world struct {
	t    testing.TB
	env  map[string]string
	db   *dynamotest.Server
	bot  *bot
	main *queue.Memory // what SQS is played with
	dead *queue.Memory

	mu         sync.Mutex // guards what follows
	parameters map[string]string
	before     func(r *http.Request, body []byte) // a request to DynamoDB
	after      func()                             // before its reply
	sqsHold    <-chan struct{}                    // SQS answers when it is closed
	released   []int                              // seconds, of the function's own wish
	asked      rights                             // of IAM
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{
		t: t, db: dynamotest.NewServer(nil), bot: new(bot),
		main: queue.NewMemory(queue.Config{}), dead: queue.NewMemory(queue.Config{}),
		parameters: map[string]string{"/homeops/secret": secretToken, "/homeops/token": botToken},
	}
	w.env = map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "AWS_SECRET", "AWS_REGION": "eu-north-1",
		"AWS_ENDPOINT_URL_SSM":            w.serve(w.serveSSM),
		"AWS_ENDPOINT_URL_SQS":            w.serve(w.serveSQS),
		"DYNAMO_ENDPOINT":                 w.serve(w.serveDynamo(w.db.Handler())),
		"TELEGRAM_API_URL":                w.serve(w.bot.serve),
		"TELEGRAM_SECRET_TOKEN_PARAMETER": "/homeops/secret",
		"TELEGRAM_BOT_TOKEN_PARAMETER":    "/homeops/token",
		"QUIET_HOURS":                     "never", // whatever the time of the test
		"MESSAGES_QUEUE_URL":              queueURL,
		"AWS_EC2_METADATA_DISABLED":       "true",
		"AWS_LAMBDA_FUNCTION_NAME":        "homeops",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256",
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
	}
	cfg, err := config.Load(func(name string) (string, bool) { v, ok := w.env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.Options{Config: cfg, DB: w.db.Client(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.CreateTables(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) serve(handler http.HandlerFunc) (url string) {
	server := httptest.NewServer(handler)
	w.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// onRequest sets what happens before a request reaches DynamoDB, and before its
// reply leaves.
func (w *world) onRequest(before func(*http.Request, []byte), after func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before, w.after = before, after
}

// refused is the panic with which a hook of onRequest makes DynamoDB refuse a
// request.
type refused struct{}

func (w *world) serveDynamo(inner http.Handler) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the process was killed
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.asksDynamo(r, body)
		w.mu.Lock()
		before, after := w.before, w.after
		w.mu.Unlock()
		defer func() {
			switch p := recover(); p.(type) {
			case nil:
			case refused:
				http.Error(out, `{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException","message":"refused by the test"}`, http.StatusBadRequest)
			default:
				panic(p)
			}
		}()
		if before != nil {
			before(r, body)
		}
		reply := httptest.NewRecorder()
		inner.ServeHTTP(reply, r)
		if after != nil {
			after()
		}
		for name, values := range reply.Header() {
			out.Header()[name] = values
		}
		out.WriteHeader(reply.Code)
		out.Write(reply.Body.Bytes())
	}
}

func (w *world) serveSSM(out http.ResponseWriter, r *http.Request) {
	var asked struct {
		Name           string
		WithDecryption bool
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Header.Get("X-Amz-Target") != "AmazonSSM.GetParameter" || !asked.WithDecryption {
		w.t.Errorf("SSM: %s: %+v, %v", r.Header.Get("X-Amz-Target"), asked, err)
	}
	w.asks(r, "ssm:GetParameter", "parameter"+parameterOf[asked.Name])
	w.mu.Lock()
	value, ok := w.parameters[asked.Name]
	w.mu.Unlock()
	if !ok {
		fail(out, "ParameterNotFound")
		return
	}
	reply(out, map[string]any{"Parameter": map[string]any{"Name": asked.Name, "Type": "SecureString", "Value": value}})
}

const (
	queueURL = "https://sqs.eu-north-1.amazonaws.com/123456789012/homeops-messages"
	deadURL  = queueURL + "-dlq"
)

// serveSQS is a fake of SQS, with queues in memory.
func (w *world) serveSQS(out http.ResponseWriter, r *http.Request) {
	var asked struct {
		QueueURL          string `json:"QueueUrl"`
		MessageBody       string
		MessageAttributes map[string]struct{ DataType, StringValue string }
		ReceiptHandle     string
		VisibilityTimeout int
		QueueName         string
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return // the process was killed
	}
	w.mu.Lock()
	hold := w.sqsHold
	w.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	if r.Context().Err() != nil {
		return // the process has given up
	}
	q := map[string]*queue.Memory{queueURL: w.main, deadURL: w.dead}[asked.QueueURL]
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")
	if q == nil && operation != "GetQueueUrl" {
		fail(out, "QueueDoesNotExist")
		return
	}
	if of := map[string]string{queueURL: "MessagesQueue", deadURL: "MessagesDeadLetters", "": "MessagesDeadLetters"}[asked.QueueURL]; of != "" {
		w.asks(r, "sqs:"+operation, of) // GetQueueUrl has a name, which is that of the dead letters
	}
	switch operation {
	case "GetQueueUrl":
		reply(out, map[string]any{"QueueUrl": strings.Replace(queueURL, "homeops-messages", asked.QueueName, 1)})
	case "GetQueueAttributes":
		depth, _ := q.Depth(r.Context())
		attributes := map[string]string{
			"MaximumMessageSize": strconv.Itoa(queue.MaxBytes), "ApproximateNumberOfMessages": strconv.Itoa(depth.Waiting),
			"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(depth.InFlight), "ApproximateNumberOfMessagesDelayed": "0",
		}
		if q == w.main {
			attributes["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:eu-north-1:123456789012:homeops-messages-dlq","maxReceiveCount":%d}`, queue.MaxReceives)
		}
		reply(out, map[string]any{"Attributes": attributes})
	case "SendMessage":
		attributes := map[string]string{}
		for name, value := range asked.MessageAttributes {
			attributes[name] = value.StringValue
			if value.DataType != queue.DataType(name) {
				w.t.Errorf("attribute %s is a %s", name, value.DataType)
			}
		}
		id, err := q.Send(r.Context(), asked.MessageBody, attributes)
		if err != nil {
			w.t.Error(err)
		}
		sum := md5.Sum([]byte(asked.MessageBody))
		reply(out, map[string]any{"MessageId": id, "MD5OfMessageBody": hex.EncodeToString(sum[:])})
	case "DeleteMessage":
		_ = q.Delete(r.Context(), asked.ReceiptHandle) // which never fails
		reply(out, map[string]any{})
	case "ChangeMessageVisibility":
		w.mu.Lock()
		w.released = append(w.released, asked.VisibilityTimeout)
		w.mu.Unlock()
		_ = q.Release(r.Context(), asked.ReceiptHandle, time.Duration(asked.VisibilityTimeout)*time.Second)
		reply(out, map[string]any{})
	default:
		w.t.Errorf("SQS: %s is not played", operation)
		fail(out, "UnsupportedOperation")
	}
}

// hidden returns for how many seconds the functions have hidden messages.
func (w *world) hidden() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.released)
}

func reply(out http.ResponseWriter, body any) {
	out.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_ = json.NewEncoder(out).Encode(body) // the process may be gone
}

func fail(out http.ResponseWriter, code string) {
	out.Header().Set("Content-Type", "application/x-amz-json-1.0")
	out.WriteHeader(http.StatusBadRequest)
	fmt.Fprintf(out, `{"__type":"com.amazonaws.test#%s","message":"as the test plays it"}`, code)
}

// bot is Telegram's side of sendMessage.
type bot struct {
	mu   sync.Mutex // guards what follows
	sent []string
	hold <-chan struct{} // replies wait until it is closed
	busy int             // the next call is to come again after so many seconds
}

func (b *bot) serve(out http.ResponseWriter, r *http.Request) {
	var asked struct {
		Chat int64 `json:"chat_id"`
		Text string
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/bot"+botToken+"/sendMessage" {
		http.Error(out, `{"ok":false,"error_code":404,"description":"Not Found"}`, http.StatusNotFound)
		return
	}
	b.mu.Lock()
	if seconds := b.busy; seconds > 0 {
		b.busy = 0
		b.mu.Unlock()
		out.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprintf(out, `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":%d}}`, seconds)
		return
	}
	b.sent = append(b.sent, fmt.Sprintf("[%d] %s", asked.Chat, asked.Text))
	id, hold := len(b.sent), b.hold
	b.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	fmt.Fprintf(out, `{"ok":true,"result":{"message_id":%d}}`, 1_000_000+id)
}

func (b *bot) set(hold <-chan struct{}, busy int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold, b.busy = hold, busy
}

func (b *bot) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sent)
}

// receive does what the event source mapping does: it takes at most so many
// messages from the queue.
func (w *world) receive(most int) ([]queue.Message, events.SQSEvent) {
	w.t.Helper()
	batch, err := w.main.Receive(w.t.Context(), most, 0)
	if err != nil || len(batch) == 0 {
		w.t.Fatalf("received %v, %v", batch, err)
	}
	return batch, eventOf(batch)
}

// eventOf returns the batch as Lambda hands it over.
func eventOf(batch []queue.Message) (event events.SQSEvent) {
	for _, m := range batch {
		record := events.SQSMessage{
			MessageId: m.ID, ReceiptHandle: m.Receipt, Body: m.Body, EventSource: "aws:sqs",
			EventSourceARN: "arn:aws:sqs:eu-north-1:123456789012:homeops-messages",
			Attributes: map[string]string{
				"ApproximateReceiveCount": strconv.Itoa(m.Receives),
				"SentTimestamp":           strconv.FormatInt(m.SentAt.UnixMilli(), 10),
			},
			MessageAttributes: map[string]events.SQSMessageAttribute{},
		}
		for name, value := range m.Attributes {
			record.MessageAttributes[name] = events.SQSMessageAttribute{DataType: queue.DataType(name), StringValue: &value}
		}
		event.Records = append(event.Records, record)
	}
	return event
}

// settle deletes what did not fail, and makes the rest visible.
func (w *world) settle(batch []queue.Message, out events.SQSEventResponse) (failed []string) {
	w.t.Helper()
	for _, f := range out.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	for _, m := range batch {
		err := w.main.Release(w.t.Context(), m.Receipt, 0)
		if !slices.Contains(failed, m.ID) {
			err = w.main.Delete(w.t.Context(), m.Receipt)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return failed
}
