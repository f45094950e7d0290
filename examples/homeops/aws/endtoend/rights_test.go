package endtoend

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/stack"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
)

// rights are what requests ask of IAM: "WorkerRole sqs:SendMessage MessagesQueue".
type rights map[string]bool

// as is the environment of a function in a role of the template: what it asks for is
// noted under that name.
func (w *world) as(role string) map[string]string {
	env := maps.Clone(w.env)
	env["AWS_ACCESS_KEY_ID"] = role
	return env
}

var signedBy = regexp.MustCompile(`Credential=(\w+)/`)

// asks notes what a request needs.
func (w *world) asks(r *http.Request, action, resource string) {
	role := "WorkerRole" // DYNAMO_ENDPOINT asks for no account, and the webhook has no tables
	if m := signedBy.FindStringSubmatch(r.Header.Get("Authorization")); m != nil && !strings.HasPrefix(action, "dynamodb:") {
		role = m[1]
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == nil {
		w.asked = rights{}
	}
	w.asked[role+" "+action+" "+resource] = true
}

// asksDynamo notes what a request to DynamoDB needs. A transaction needs the rights
// of its actions.
func (w *world) asksDynamo(r *http.Request, body []byte) {
	var asked struct {
		TableName, IndexName string
		TransactItems        []map[string]struct{ TableName string }
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return // the process was killed
	}
	for _, item := range asked.TransactItems {
		for kind, of := range item {
			w.asks(r, map[string]string{
				"Put": "dynamodb:PutItem", "Update": "dynamodb:UpdateItem", "Delete": "dynamodb:DeleteItem", "ConditionCheck": "dynamodb:ConditionCheckItem",
			}[kind], "table/"+of.TableName)
		}
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch {
	case asked.TransactItems != nil:
	case asked.IndexName != "":
		w.asks(r, "dynamodb:"+operation, "table/"+asked.TableName+"/index/"+asked.IndexName)
	default:
		w.asks(r, "dynamodb:"+operation, "table/"+asked.TableName)
	}
}

// parameterOf is the template's parameter that names a secret of the world.
var parameterOf = map[string]string{"/homeops/secret": "${TelegramSecretParameter}", "/homeops/token": "${TelegramTokenParameter}"}

// granted returns the rights of the template's roles, except those on logs,
// which Lambda itself writes.
func granted(t *testing.T) rights {
	t.Helper()
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	template, err := stack.Template(cfg)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(template["Resources"])
	if err != nil {
		t.Fatal(err)
	}
	var resources map[string]struct {
		Properties struct {
			Policies []struct {
				PolicyDocument struct {
					Statement []struct {
						Action   []string
						Resource any
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &resources); err != nil {
		t.Fatal(err)
	}
	all := rights{}
	for _, role := range []string{"IngestRole", "WorkerRole"} {
		for _, policy := range resources[role].Properties.Policies {
			for _, s := range policy.PolicyDocument.Statement {
				for _, resource := range resourcesOf(t, s.Resource) {
					for _, action := range s.Action {
						if !strings.HasPrefix(action, "logs:") {
							all[role+" "+action+" "+resource] = true
						}
					}
				}
			}
		}
	}
	return all
}

// resourcesOf returns the ids of resources of the template, or what follows the
// account in an ARN.
func resourcesOf(t *testing.T, value any) []string {
	t.Helper()
	switch value := value.(type) {
	case []any:
		var all []string
		for _, v := range value {
			all = append(all, resourcesOf(t, v)...)
		}
		return all
	case map[string]any:
		if at, ok := value["Fn::GetAtt"].([]any); ok {
			return []string{fmt.Sprint(at[0])}
		}
		if arn, ok := value["Fn::Sub"].(string); ok {
			return []string{arn[strings.LastIndex(arn, ":")+1:]}
		}
	}
	t.Fatalf("a resource of another form: %v", value)
	return nil
}

// onMondays is how often each member asked the bot.
const onMondays = "WorkerRole dynamodb:GetItem table/homeops-response-counters"

// beyond are the rights that the functions do not use here, or not each day.
var beyond = []string{
	onMondays,
	"WorkerRole sqs:ReceiveMessage MessagesQueue", // the event source mapping does, in the worker's role
}

// The roles allow all that the functions ask for while they work on their stream, and
// nothing else.
func (w *world) checkRights(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	asked := maps.Clone(w.asked)
	w.mu.Unlock()
	allowed := granted(t)
	for right := range asked {
		if !allowed[right] {
			t.Errorf("not allowed: %s", right)
		}
	}
	var unasked []string
	for right := range allowed {
		if !asked[right] || right == onMondays {
			unasked = append(unasked, right)
		}
	}
	slices.Sort(unasked)
	if diff := cmp.Diff(beyond, unasked); diff != "" {
		t.Errorf("allowed and never asked for:\n%s", diff)
	}
}
