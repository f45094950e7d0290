package house

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// taken are the fields that accept values that are bad input elsewhere: text that
// is not written, values that are only read, and numbers whose sign has a meaning.
var taken = []string{
	"activity.Record: At", "alias.Match: text", "ema.Observe: Value",
	"ledger.Forget: Record.Attempts", "ledger.Forget: Record.Fence", "ledger.Forget: Record.LastError",
	"ledger.Forget: Record.Nonce", "ledger.Forget: Record.Source",
	"ledger.List: Filter.Source",
	"ledger.Reopen: Record.Attempts", "ledger.Reopen: Record.Fence", "ledger.Reopen: Record.LastError",
	"ledger.Reopen: Record.Nonce", "ledger.Reopen: Record.Source",
	"own.Apply: Method", "own.ApplyAll: Method", "own.ApplyItem: Method", "own.Set: Method",
}

// An InputError's Field is the name of the parameter or of a struct's field. The
// field's name is alone if only one method takes the struct, and follows the
// struct's name if several do.
func TestBadInputNamesItsField(t *testing.T) {
	t.Parallel()
	s := storesOnDown(t)
	stores := map[string]any{
		"activity": s.acts, "alias": s.book, "counter": s.limits, "ema": s.averages, "ledger": operators(t, s.seen, down),
		"memory": s.memories, "message": s.said, "pattern": s.habits, "own": s.last, "own, counted": s.counted,
	}
	parameters := parameterNames(t)
	var passed []string
	for _, key := range slices.Sorted(maps.Keys(stores)) {
		of := reflect.ValueOf(stores[key])
		pkg, _, _ := strings.Cut(key, ",")
		for i := range of.NumMethod() {
			method := of.Type().Method(i)
			names := parameters[strings.Replace(pkg, "own", "record", 1)+"."+method.Name]
			if len(names) != method.Type.NumIn()-1 {
				t.Fatalf("%s.%s: the API's list names %d parameters", pkg, method.Name, len(names))
			}
			for p := range names {
				args := make([]reflect.Value, method.Type.NumIn()-1)
				for q := range args {
					args[q] = validOf(t, method.Type.In(q+1), names[q])
				}
				for field, bad := range poisoned(args[p], names[p]) {
					args[p] = bad
					err := failureOf(of.Method(i).Call(args))
					in, ok := errors.AsType[*event.InputError](err)
					what := pkg + "." + method.Name + ": " + field
					switch {
					case !ok:
						passed = append(passed, what)
					case in.Field == "Kind.Count": // rows without a count, or with one
					case in.Field != field, in.Package != pkg:
						t.Errorf("%s: got %v", what, err)
					}
				}
			}
		}
	}
	slices.Sort(passed)
	if diff := cmp.Diff(taken, passed); diff != "" {
		t.Errorf("no bad input (-want +got):\n%s", diff)
	}
}

// A client that nobody has made is bad input, also as a nil pointer in an interface.
func TestNilClients(t *testing.T) {
	t.Parallel()
	var none *dynamodb.Client
	own := record.Kind[string]{Package: "own", Type: "OWN", Decode: func(record.Item) (string, error) { return "", nil }}
	for _, bad := range []struct {
		pkg, field string
		err        error
	}{
		{"activity", "api", failure(activity.New(none, "activity", nil))},
		{"alias", "api", failure(alias.New(none, "records", nil))},
		{"counter", "api", failure(counter.New(none, "limits", tzclock.UTC, nil))},
		{"ema", "api", failure(ema.New(none, "records", nil))},
		{"ledger", "api", failure(ledger.New(none, "seen", nil))},
		{"memory", "acts", failure(memory.New(nil, tzclock.UTC))},
		{"message", "api", failure(message.New(none, "messages", nil))},
		{"pattern", "api", failure(pattern.New(none, "records", tzclock.UTC, nil))},
		{"own", "api", failure(record.New(none, "records", own, nil))},
		{"schema", "api", schema.Create(t.Context(), none)},
	} {
		recordtest.WantBad(t, bad.err, bad.pkg, bad.field)
	}
}

// parameterNames returns the names of each method's parameters, by package and
// method.
func parameterNames(t *testing.T) map[string][]string {
	t.Helper()
	method := regexp.MustCompile(`(?m)^(\w+): method \(\*(?:Store|Operators|Memory|Rows)\) (\w+)\((.*?)\)(?: |$)`)
	names := map[string][]string{}
	for _, m := range method.FindAllStringSubmatch(read(t, apiFile), -1) {
		var of []string
		for parameter := range strings.SplitSeq(m[3], ", ") {
			if name, _, _ := strings.Cut(parameter, " "); name != "" {
				of = append(of, name)
			}
		}
		names[m[1]+"."+m[2]] = of
	}
	return names
}

// words are valid texts, by the name of the parameter or field.
var words = map[string]string{
	"scope": home, "actor": anna, "name": wash, "phrase": wash, "key": home, "subject": anna, "metric": wash, "partition": home, "sort": wash,
}

// validOf returns a valid argument.
func validOf(t *testing.T, of reflect.Type, name string) reflect.Value {
	t.Helper()
	v := reflect.New(of).Elem()
	switch v.Interface().(type) {
	case string:
		v.SetString(words[strings.ToLower(name)])
	case int, int64:
		v.SetInt(1)
	case float64:
		v.SetFloat(0.5)
	case event.Event:
		v.Set(reflect.ValueOf(recordtest.Event(t, noon, "fields")))
	case []event.Event:
		v.Set(reflect.ValueOf([]event.Event{recordtest.Event(t, noon, "fields")}))
	case time.Time:
		if name == "At" || name == "Of" || name == "of" {
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

// shared are structs that several methods take.
var shared = []string{"Range", "Filter", "Request", "Record", "Match"}

// poisoned returns the argument with one wrong value in it, by the name that the
// error must have.
func poisoned(v reflect.Value, name string) map[string]reflect.Value {
	bad := reflect.New(v.Type()).Elem()
	bad.Set(v)
	all := map[string]reflect.Value{name: bad}
	switch v.Interface().(type) {
	case string:
		bad.SetString("\xff")
		return all
	case int, int64:
		bad.SetInt(-1)
		return all
	case float64:
		bad.SetFloat(-1)
		return all
	case event.Event, tzclock.Date:
		bad.SetZero()
		return all
	case time.Time:
		if !v.IsZero() {
			bad.SetZero()
			return all
		}
		return nil
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	all = map[string]reflect.Value{}
	for field := range v.Type().Fields() {
		if !field.IsExported() {
			continue
		}
		for called, value := range poisoned(v.FieldByIndex(field.Index), field.Name) {
			bad := reflect.New(v.Type()).Elem()
			bad.Set(v)
			bad.FieldByIndex(field.Index).Set(value)
			if slices.Contains(shared, v.Type().Name()) && !strings.Contains(called, ".") {
				called = v.Type().Name() + "." + called
			}
			all[called] = bad
		}
	}
	return all
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
