package stack_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/stack"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
)

var update = flag.Bool("update", false, "write testdata/template.json")

func load(t testing.TB) config.Config { return loadFrom(t, nil) }

func loadFrom(t testing.TB, env map[string]string) config.Config {
	t.Helper()
	cfg, err := config.Load(func(name string) (string, bool) { value, ok := env[name]; return value, ok })
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func written(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := stack.Write(&out, load(t)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// parsed returns the template as a deployment reads it.
func parsed(t testing.TB) (template struct {
	Parameters, Conditions, Outputs map[string]any
	Resources                       map[string]struct {
		Type, Condition string
		Properties      map[string]any
	}
},
) {
	t.Helper()
	if err := json.Unmarshal(written(t), &template); err != nil {
		t.Fatal(err)
	}
	return template
}

// The template is the same to the byte. No emulator keeps alarm, URL and
// RedriveAllowPolicy: only this and cfn-lint check them.
func TestTemplate(t *testing.T) {
	t.Parallel()
	const golden = "testdata/template.json"
	got := written(t)
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the template changed (-update writes it anew):\n%s", diff)
	}
	for range 20 {
		if !bytes.Equal(written(t), got) {
			t.Fatal("it is another each time")
		}
	}
}

var inSub = regexp.MustCompile(`\$\{([^}]+)\}`)

// Everything that the template refers to is in it, and every parameter and
// condition is used.
func TestReferences(t *testing.T) {
	t.Parallel()
	template := parsed(t)
	used := map[string]bool{}
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, v := range value {
				walk(v)
			}
		case map[string]any:
			for key, v := range value {
				switch key {
				case "Ref", "Condition": // a policy's is not a name
					if name, ok := v.(string); ok {
						used[name] = true
					}
				case "Fn::GetAtt":
					used[fmt.Sprint(v.([]any)[0])] = true
				case "Fn::If":
					used[fmt.Sprint(v.([]any)[0])] = true
				case "Fn::Sub":
					for _, name := range inSub.FindAllStringSubmatch(v.(string), -1) {
						id, _, _ := strings.Cut(name[1], ".") // an attribute follows it
						used[id] = true
					}
				}
				walk(v)
			}
		}
	}
	walk(template.Conditions)
	walk(template.Outputs)
	for _, resource := range template.Resources {
		walk(resource.Properties)
		if resource.Condition != "" {
			used[resource.Condition] = true
		}
	}
	for name := range used {
		_, parameter := template.Parameters[name]
		_, condition := template.Conditions[name]
		_, resource := template.Resources[name]
		if !parameter && !condition && !resource && !strings.HasPrefix(name, "AWS::") {
			t.Errorf("%s is not in the template", name)
		}
	}
	for name := range maps.All(template.Parameters) {
		if !used[name] {
			t.Errorf("parameter %s is not used", name)
		}
	}
	for name := range template.Conditions {
		if !used[name] {
			t.Errorf("condition %s is not used", name)
		}
	}
}

// A function may do only what it must, on named resources: no action and no
// resource of a policy has a star, and no policy grants an operator's call.
func TestLeastPrivilege(t *testing.T) {
	t.Parallel()
	template := parsed(t)
	granted := map[string][]string{}
	for id, resource := range template.Resources {
		if resource.Type != "AWS::IAM::Role" {
			continue
		}
		text, err := json.Marshal(resource.Properties)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("*")) {
			t.Errorf("%s grants something on everything: %s", id, text)
		}
		if id == "WorkerRole" {
			for _, statement := range bytes.Split(text, []byte(`"Action"`)) {
				if bytes.Contains(statement, []byte("table/homeops-activities")) && bytes.Contains(statement, []byte("DeleteItem")) {
					t.Errorf("the worker may delete what was done: %s", statement)
				}
			}
		}
		for _, action := range regexp.MustCompile(`"([a-z]+:[A-Za-z]+)"`).FindAllSubmatch(text, -1) {
			granted[id] = append(granted[id], string(action[1]))
		}
	}
	ingest := granted["IngestRole"]
	if len(ingest) == 0 || slices.ContainsFunc(ingest, func(a string) bool { return strings.HasPrefix(a, "dynamodb:") }) {
		t.Errorf("the webhook needs no table: %v", ingest)
	}
	for _, action := range []string{"dynamodb:BatchWriteItem", "dynamodb:Scan", "dynamodb:CreateTable"} {
		if slices.Contains(granted["WorkerRole"], action) {
			t.Errorf("the worker may %s", action)
		}
	}
	if !slices.Contains(granted["WorkerRole"], "dynamodb:UpdateItem") {
		t.Errorf("the worker may only %v", granted["WorkerRole"])
	}
}

// The template and the functions' environments have only the names of secrets.
func TestNamesOfSecrets(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"IngestFunction": "TELEGRAM_SECRET_TOKEN_PARAMETER", "WorkerFunction": "TELEGRAM_BOT_TOKEN_PARAMETER"} {
		variables := parsed(t).Resources[id].Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
		if variables[want] == nil || variables["TELEGRAM_SECRET_TOKEN"] != nil || variables["TELEGRAM_BOT_TOKEN"] != nil {
			t.Errorf("%s: %v", id, variables)
		}
	}
	if bytes.Contains(written(t), []byte("{{resolve:")) {
		t.Error("a dynamic reference would show the secret in the function's configuration")
	}
}

// If the tables have other names, the functions use these, too.
func TestOtherTables(t *testing.T) {
	t.Parallel()
	cfg := load(t)
	cfg.ActivitiesTable = "acts"
	template, err := stack.Template(cfg)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("homeops-activities")); n != 0 {
		t.Errorf("homeops-activities is still there, %d times", n)
	}
	for _, want := range []string{`"TableName":"acts"`, `"ACTIVITIES_TABLE_NAME":"acts"`, `table/acts/index/`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is not there", want)
		}
	}
}

// The worker gets what the configuration decides, without secrets: it loads the
// same configuration.
func TestTheWorkerIsConfiguredAsTheStackWas(t *testing.T) {
	t.Parallel()
	decided := map[string]string{
		"MESSAGES_TABLE_NAME": "m-1", "ACTIVITIES_TABLE_NAME": "a-1", "RESPONSE_COUNTERS_TABLE_NAME": "c-1",
		"HOMEOPS_TABLE_NAME": "h-1", "DYNAMO_TABLE_NAME": "l-1", "DYNAMO_TTL_DAYS": "30", "MESSAGES_TTL_DAYS": "90",
		"TELEGRAM_API_URL": "https://bots.example.org",
	}
	for _, quiet := range []string{"23:30-06:00", "never"} {
		decided["QUIET_HOURS"] = quiet
		want := loadFrom(t, decided)
		template, err := stack.Template(want)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(template["Resources"])
		if err != nil {
			t.Fatal(err)
		}
		var resources map[string]struct {
			Properties struct {
				Environment struct{ Variables map[string]any }
			}
		}
		if err := json.Unmarshal(text, &resources); err != nil {
			t.Fatal(err)
		}
		set := map[string]string{}
		for name, value := range resources["WorkerFunction"].Properties.Environment.Variables {
			if text, ok := value.(string); ok { // others are known when it is deployed
				set[name] = text
			}
		}
		if diff := cmp.Diff(want, loadFrom(t, set)); diff != "" {
			t.Errorf("the stack's configuration (-), and the worker's (+):\n%s", diff)
		}
	}
}

// A function's URL ends in a slash, an API's does not. The webhook's path must
// follow either with one slash, because Telegram does not follow a redirect from
// "//telegram".
func TestTheWebhooksAddress(t *testing.T) {
	t.Parallel()
	outputs := parsed(t).Outputs
	for name, tc := range map[string]struct{ refers, is, want string }{
		"FunctionUrl": {"${IngestUrl.FunctionUrl}", "https://abc.lambda-url.eu-north-1.on.aws/", "https://abc.lambda-url.eu-north-1.on.aws/telegram"},
		"HttpApi":     {"${HttpApi.ApiEndpoint}", "https://abc.execute-api.eu-north-1.amazonaws.com", "https://abc.execute-api.eu-north-1.amazonaws.com/telegram"},
	} {
		text, _ := outputs[name].(map[string]any)["Value"].(map[string]any)["Fn::Sub"].(string)
		if got := strings.Replace(text, tc.refers, tc.is, 1); got != tc.want {
			t.Errorf("%s is %q, and so %s", name, text, got)
		}
	}
}

// The schedule turns an event into the hour's job, and the queue accepts it only
// from this rule.
func TestTheClockSendsJobs(t *testing.T) {
	t.Parallel()
	resources := parsed(t).Resources
	rule := resources["JobsSchedule"].Properties
	target := rule["Targets"].([]any)[0].(map[string]any)
	transformer := target["InputTransformer"].(map[string]any)
	want := map[string]any{"due": "$.time"}
	if diff := cmp.Diff(want, transformer["InputPathsMap"]); diff != "" {
		t.Error(diff)
	}
	body := strings.ReplaceAll(transformer["InputTemplate"].(string), "<due>", `"2026-03-29T17:00:07Z"`)
	due := time.Date(2026, 3, 29, 17, 0, 0, 0, time.UTC)
	if j, ok, err := job.Parse(body); !ok || err != nil || j != (job.Job{Name: job.Hourly, Due: due}) {
		t.Errorf("%s is %+v, %v, %v", body, j, ok, err)
	}
	text, err := json.Marshal(resources["JobsQueuePolicy"])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"Type":"AWS::SQS::QueuePolicy"`, `"Queues":[{"Ref":"MessagesQueue"}]`, `"Service":"events.amazonaws.com"`,
		`"Resource":{"Fn::GetAtt":["MessagesQueue","Arn"]}`, `"ArnEquals":{"aws:SourceArn":{"Fn::GetAtt":["JobsSchedule","Arn"]}}`,
	} {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	if _, ok := resources["JobsPermission"]; ok {
		t.Error("stands in deployed stacks, as a permission of Lambda: no update may change a resource's type")
	}
	if arn := fmt.Sprint(target["Arn"]); arn != "map[Fn::GetAtt:[MessagesQueue Arn]]" {
		t.Errorf("the target is %s", arn)
	}
}
