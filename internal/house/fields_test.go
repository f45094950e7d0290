package house

import (
	"errors"
	"reflect"
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
	"github.com/homeops/ddbpatterns/limit"
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
	"ledger.Forget: Record.Attempts", "ledger.Forget: Record.Fence", "ledger.Forget: Record.Holder", "ledger.Forget: Record.LastError",
	"ledger.Forget: Record.Nonce", "ledger.Forget: Record.Source",
	"ledger.Reopen: Record.Attempts", "ledger.Reopen: Record.Fence", "ledger.Reopen: Record.Holder", "ledger.Reopen: Record.LastError",
	"ledger.Reopen: Record.Nonce", "ledger.Reopen: Record.Source",
	"limit.Take: Take.Event", // a random one of the call
	"own.Apply: Method", "own.ApplyAll: Method", "own.ApplyItem: Method", "own.Set: Method",
}

// An InputError's Field is the name of the parameter or of a struct's field. The
// field's name is alone if only one method takes the struct, and follows the
// struct's name if several do.
func TestBadInputNamesItsField(t *testing.T) {
	t.Parallel()
	var passed []string
	for key, store := range storesOn(t, recordtest.Down(errDown)) {
		pkg, _, _ := strings.Cut(key, ",")
		for _, method := range methods(store) {
			valid, names := validArgs(t, pkgOf(store), method)
			for p := range names {
				args := append([]reflect.Value{reflect.ValueOf(store)}, valid...)
				for field, bad := range poisoned(valid[p], names[p]) {
					args[p+1] = bad
					err := failureOf(method.Func.Call(args))
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
		{"limit", "api", failure(limit.New(none, "limits", nil))},
		{"memory", "acts", failure(memory.New(nil, tzclock.UTC))},
		{"message", "api", failure(message.New(none, "messages", nil))},
		{"pattern", "api", failure(pattern.New(none, "records", tzclock.UTC, nil))},
		{"own", "api", failure(record.New(none, "records", own, nil))},
		{"schema", "api", schema.Create(t.Context(), none)},
	} {
		recordtest.WantBad(t, bad.err, bad.pkg, bad.field)
	}
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
			if (slices.Contains(shared, v.Type().Name()) || v.Type() == reflect.TypeFor[limit.Take]()) && !strings.Contains(called, ".") {
				called = v.Type().Name() + "." + called
			}
			all[called] = bad
		}
	}
	return all
}
