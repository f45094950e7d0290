package house

import (
	"context"
	"errors"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/limit"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

const (
	table = "records"
	home  = "-100123"
	anna  = "42"
	wash  = "dishes"
)

var (
	noon    = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	errDown = errors.New("service down")
)

// client sends the requests of every package.
type client interface {
	activity.API
	alias.API
	ledger.API
	message.API
	record.API
	ledger.OperatorsAPI
}

// storesOn returns a store of each package, and rows that count and rows that do not,
// by what their errors begin with. All use one table's name, and can be given to
// schema.Policy.
func storesOn(t *testing.T, db client) map[string]schema.Store {
	t.Helper()
	clock := recordtest.Clock(noon)
	name := func(row record.Item) (string, error) { return record.Read(row).Text("name"), nil }
	acts, err1 := activity.New(db, table, &activity.Config{Now: clock})
	book, err2 := alias.New(db, table, &alias.Config{Now: clock})
	limits, err3 := counter.New(db, table, tzclock.UTC, &counter.Config{Now: clock})
	averages, err4 := ema.New(db, table, &ema.Config{Now: clock})
	seen, err5 := ledger.New(db, table, &ledger.Config{Now: clock})
	said, err6 := message.New(db, table, &message.Config{Now: clock, ActorIndex: true})
	habits, err7 := pattern.New(db, table, tzclock.UTC, &pattern.Config{Now: clock})
	counted, err8 := record.New(db, table, record.Kind[string]{Package: "own", Type: "OWN", Count: "n", Decode: name}, &record.Config{Now: clock})
	last, err9 := record.New(db, table, record.Kind[string]{Package: "own", Type: "OWN", Attributes: []string{"name"}, Decode: name}, &record.Config{Now: clock})
	memories, err10 := memory.New(acts, tzclock.UTC)
	people, err11 := seen.Operators(db)
	rates, err12 := limit.New(db, table, &limit.Config{Now: clock})
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11, err12); err != nil {
		t.Fatal(err)
	}
	return map[string]schema.Store{
		"activity": acts, "alias": book, "counter": limits, "ema": averages, "ledger": people, "limit": rates, "memory": memories,
		"message": said, "pattern": habits, "own": last, "own, counted": counted,
	}
}

// claimOfNoTable is a claim whose table was deleted: every request about it
// fails.
func claimOfNoTable(t *testing.T) *ledger.Claim {
	t.Helper()
	db := dynamotest.New(t, nil).Client()
	seen, err := ledger.New(db, table, nil)
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Create(t, db, seen.Table())
	c, err := seen.Claim(t.Context(), ledger.Request{Key: "errors"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(table)}); err != nil {
		t.Fatal(err)
	}
	return c
}

// methods are those of a value that take a context.
func methods(of any) []reflect.Method {
	return slices.DeleteFunc(slices.Collect(reflect.TypeOf(of).Methods()), func(m reflect.Method) bool {
		return m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]()
	})
}

// call calls a method with arguments that are valid.
func call(t *testing.T, of any, method reflect.Method) []reflect.Value {
	t.Helper()
	args, _ := validArgs(t, pkgOf(of), method)
	return method.Func.Call(append([]reflect.Value{reflect.ValueOf(of)}, args...))
}

// called returns the error of such a call.
func called(t *testing.T, of any, method string) error {
	t.Helper()
	m, ok := reflect.TypeOf(of).MethodByName(method)
	if !ok {
		t.Fatalf("%T has no %s", of, method)
	}
	return failureOf(call(t, of, m))
}

// pkgOf is the package of a value's type, as testdata/api.txt has it.
func pkgOf(of any) string {
	pkg, _, _ := strings.Cut(reflect.TypeOf(of).Elem().String(), ".")
	return pkg
}

// validArgs returns arguments of a method, and their names.
func validArgs(t *testing.T, pkg string, method reflect.Method) ([]reflect.Value, []string) {
	t.Helper()
	of, _, _ := strings.Cut(method.Type.In(0).Elem().Name(), "[")
	names, ok := parameterNames()[pkg+"."+of+"."+method.Name]
	if !ok { // of a store that the type embeds
		names = parameterNames()[pkg+".Store."+method.Name]
	}
	if len(names) != method.Type.NumIn()-1 {
		t.Fatalf("%s.%s: the API's list names %d parameters", pkg, method.Name, len(names))
	}
	args := make([]reflect.Value, len(names))
	for i := range args {
		args[i] = validOf(t, method.Type.In(i+1), names[i])
	}
	return args, names
}

// parameterNames are the names of each method's parameters, by package, type and
// method.
var parameterNames = sync.OnceValue(func() map[string][]string {
	api, _ := os.ReadFile(apiFile) // without it no method has its names
	names := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+): method \(\*?(\w+)\) (\w+)\((.*?)\)(?: |$)`).FindAllStringSubmatch(string(api), -1) {
		var of []string
		for parameter := range strings.SplitSeq(m[4], ", ") {
			if name, _, _ := strings.Cut(parameter, " "); name != "" {
				of = append(of, name)
			}
		}
		names[m[1]+"."+m[2]+"."+m[3]] = of
	}
	return names
})

// texts are valid, by the name of the parameter or field.
var texts = map[string]string{
	"scope": home, "actor": anna, "name": wash, "phrase": wash, "key": home, "subject": anna, "metric": wash, "partition": home, "sort": wash,
}

// validOf returns a valid argument.
func validOf(t *testing.T, of reflect.Type, name string) reflect.Value {
	t.Helper()
	v := reflect.New(of).Elem()
	switch v.Interface().(type) {
	case string:
		v.SetString(texts[strings.ToLower(name)])
		if name == "token" {
			v.SetString(claimOfNoTable(t).Token())
		}
	case int, int64:
		v.SetInt(2)
	case time.Duration:
		if name == "Per" {
			v.Set(reflect.ValueOf(time.Minute))
		}
	case float64:
		v.SetFloat(0.5)
	case event.Event:
		v.Set(reflect.ValueOf(recordtest.Event(t, noon, "fields")))
	case []event.Event:
		v.Set(reflect.ValueOf([]event.Event{recordtest.Event(t, noon, "fields")}))
	case time.Time:
		if name == "At" || name == "Of" || name == "of" || name == "at" {
			v.Set(reflect.ValueOf(noon))
		}
	case tzclock.Date:
		v.Set(reflect.ValueOf(tzclock.UTC.Date(noon)))
	case record.Item:
		v.Set(reflect.ValueOf(record.Item{"name": record.Text(wash)}))
	case record.Next:
		v.Set(reflect.ValueOf(record.Next(func(record.Item, event.Event) (record.Item, error) { return nil, nil })))
	default:
		switch {
		case of == reflect.TypeFor[context.Context]():
			v.Set(reflect.ValueOf(t.Context()))
		case of == reflect.TypeFor[error]():
			v.Set(reflect.ValueOf(errDown))
		case of.Kind() == reflect.Map && of.Elem().Kind() == reflect.String:
			v.Set(reflect.ValueOf(map[string]string{wash: wash}))
		case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct && name != "Data":
			v.Set(reflect.Append(v, validOf(t, of.Elem(), name)))
		case of.Kind() == reflect.Struct:
			for field := range of.Fields() {
				if field.IsExported() && !slices.Contains([]string{"FromSeq", "ToSeq", "Consistent", "Limit", "ReadAtMost", "Window", "Threshold", "Match"}, field.Name) {
					v.FieldByIndex(field.Index).Set(validOf(t, field.Type, field.Name))
				}
			}
		}
	}
	return v
}

// failureOf returns the error among a method's results, or that of its walk's
// first step.
func failureOf(results []reflect.Value) error {
	last := results[len(results)-1]
	if last.Kind() == reflect.Func {
		for _, err := range last.Seq2() {
			failed, _ := err.Interface().(error)
			return failed
		}
		return nil
	}
	failed, _ := last.Interface().(error)
	return failed
}

// failure returns the error of a call that also returns something else.
func failure[T any](_ T, err error) error { return err }
