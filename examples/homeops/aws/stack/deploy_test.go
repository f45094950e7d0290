package stack_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/backend"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/sqsqueue"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/stack"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/demo/replay"
	"github.com/homeops/ddbpatterns/examples/homeops/demo/report"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/schema"
)

// The template deploys, and differs from its definitions only in what moto drops.
// Days of the bundled conversation end on its tables and queues as they do in the
// process.
func TestDeploy(t *testing.T) {
	moto := backend.Open(t, backend.Moto)
	uploadCode(t, moto)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	url := deploy(ctx, t, moto)

	db := dynamodb.NewFromConfig(moto.Config())
	tables, err := stack.Tables(load(t))
	if err != nil {
		t.Fatal(err)
	}
	found, err := schema.Diff(ctx, db, tables...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range found {
		got = append(got, d.Table+": "+d.String())
	}
	if diff := cmp.Diff(dropped, got); diff != "" {
		t.Errorf("moto keeps more, or less, than it did:\n%s", diff)
	}

	queues := sqs.NewFromConfig(moto.Config())
	// A message whose receipt is lost comes again after its visibility. Here that
	// is while the replay still waits for it: afterwards the replay's clock goes
	// on and makes it late.
	if _, err = queues.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: &url, Attributes: map[string]string{"VisibilityTimeout": "15"},
	}); err != nil {
		t.Fatal(err)
	}
	q, err := sqsqueue.Open(ctx, queues, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	compareReplays(ctx, t, moto, unmapped{q})
}

// unmapped leaves out that moto receives each message once for the mapping, which is
// not enabled.
type unmapped struct{ queue.Queue }

func (u unmapped) Receive(ctx context.Context, most int, wait time.Duration) ([]queue.Message, error) {
	batch, err := u.Queue.Receive(ctx, most, wait)
	for i := range batch {
		batch[i].Receives--
	}
	return batch, err
}

// dropped is what moto does not copy from a template to its tables.
var dropped = []string{
	"homeops-messages: it has no KMS key", // stored, not described
	"homeops-messages: it has no point-in-time recovery",
	"homeops-activities: it has no point-in-time recovery",
	"homeops-response-counters: it has no TTL",
	"homeops: it has no point-in-time recovery",
	"QuillIdempotencyLedger: it has no TTL",
}

// uploadCode puts something where moto looks for the functions' code, without
// running it.
func uploadCode(t *testing.T, moto backend.Server) {
	t.Helper()
	for _, path := range []string{"/code", "/code/homeops-ingest.zip", "/code/homeops-worker.zip"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, moto.Endpoint+path, strings.NewReader(strings.TrimPrefix(path, "/code")))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, response.Status)
		}
	}
}

// deploy makes the stack and returns the queue's URL. It leaves out the mapping,
// for which moto would start Docker, and the function URL, which moto does not
// know.
func deploy(ctx context.Context, t *testing.T, moto backend.Server) string {
	t.Helper()
	client, name := cloudformation.NewFromConfig(moto.Config()), aws.String("homeops")
	var parameters []types.Parameter
	for key, value := range map[string]string{"CodeBucket": "code", "MaximumConcurrency": "2", "MappingEnabled": "false", "Endpoint": "None"} {
		parameters = append(parameters, types.Parameter{ParameterKey: &key, ParameterValue: &value})
	}
	_, err := client.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: name, TemplateBody: aws.String(string(written(t))),
		Capabilities: []types.Capability{types.CapabilityCapabilityIam}, Parameters: parameters,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = client.DeleteStack(context.WithoutCancel(ctx), &cloudformation.DeleteStackInput{StackName: name})
	})
	stands, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: name})
	if err != nil || stands.Stacks[0].StackStatus != types.StackStatusCreateComplete {
		t.Fatalf("the stack is not complete: %+v, %v", stands, err)
	}
	for _, output := range stands.Stacks[0].Outputs {
		if aws.ToString(output.OutputKey) == "QueueUrl" {
			return *output.OutputValue
		}
	}
	t.Fatal("the stack tells no queue")
	return ""
}

// compareReplays replays the bundled conversation on moto and in the process.
// Counts and rows must be the same, and the same updates refused for the same
// reasons.
func compareReplays(ctx context.Context, t *testing.T, moto backend.Server, q queue.Queue) {
	t.Helper()
	cfg := load(t)
	want := replayed(ctx, t, cfg, nil)
	cfg.Endpoint = moto.Endpoint
	got := replayed(ctx, t, cfg, q)
	for _, facts := range []*report.Facts{&want, &got} {
		facts.Where, facts.Tally.Costs = "", report.Costs{} // moto reports no units
		for i, m := range facts.Dead {
			body, _ := m.Content()
			facts.Dead[i] = queue.Message{Body: string(body), Attributes: map[string]string{"why": m.Why()}}
		}
		slices.SortFunc(facts.Dead, func(a, b queue.Message) int { return strings.Compare(a.Body, b.Body) })
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(report.Tally{}), cmpopts.EquateComparable(app.Zone)); diff != "" {
		t.Errorf("in the process (-) and on the stack (+):\n%s", diff)
	}
	if got.Tally.Saved < 60 || len(got.Dead) < 3 {
		t.Errorf("%d saved, %d dead: the comparison sees nothing", got.Tally.Saved, len(got.Dead))
	}
}

func replayed(ctx context.Context, t *testing.T, cfg config.Config, q queue.Queue) report.Facts {
	t.Helper()
	updates, err := os.ReadFile("../../run/testdata/conversation.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(updates))
	updates = bytes.Join(lines[170:240], nil) // some days, with what is refused: moto takes its time
	facts, err := replay.Run(ctx, replay.Options{
		Config: cfg, Updates: bytes.NewReader(updates), Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Queue: q,
		Present: time.Date(2026, time.April, 23, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// cfn-lint knows the rules of every resource, including the alarm, the URL and
// the queues' policies.
func TestLint(t *testing.T) {
	t.Parallel()
	backend.Open(t, backend.Moto) // scripts/aws brings both
	lint := exec.CommandContext(t.Context(), "cfn-lint", "--include-checks", "I", "--", "testdata/template.json")
	if out, err := lint.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
