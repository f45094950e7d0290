package dynamotest

import (
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// keyAttributes returns attributes of a key in the server's own form.
func keyAttributes(key map[string]types.AttributeValue) (attr.Map, error) {
	var fields []attr.Field
	for name, value := range key {
		var v attr.Value
		var err error
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			v = attr.String(value.Value)
		case *types.AttributeValueMemberB:
			v = attr.Bytes(string(value.Value))
		case *types.AttributeValueMemberN:
			v, err = attr.Number(value.Value)
		default:
			err = fmt.Errorf("key attribute %q is a %T, and no key", name, value)
		}
		if err != nil {
			return nil, err
		}
		fields = append(fields, attr.Field{Name: name, Value: v})
	}
	return attr.NewMap(fields...), nil
}

// is reports whether the named operation has some traits.
func is(op string, traits api.Trait) bool { return api.OperationNamed(op).Has(traits) }

// inCall tells whether the fault concerns a call, and which of its targets.
func (f *fault) inCall(call *engine.Call) (hit []bool, ok bool) {
	if f.Op != "" && f.Op != call.Operation {
		return nil, false
	}
	ok = f.Table == "" && f.Index == "" && f.key == nil
	switch {
	case f.Do == Conflict && is(call.Operation, api.Conflicts),
		f.Do == Unprocessed && is(call.Operation, api.Batch):
		ok = false // it needs a target
	case f.Do == Conflict, f.Do == Unprocessed:
		return nil, false
	}
	hit = make([]bool, len(call.Targets))
	for i, target := range call.Targets {
		hit[i] = f.about(target.Table) && f.onIndex(target) && contains(target.Key, f.key) && f.harms(call, target)
		ok = ok || hit[i]
	}
	return hit, ok
}

// onIndex tells whether a target is on the fault's index, or is held back by it.
func (f *fault) onIndex(about target.Target) bool {
	if f.holdsBack() && !about.Read {
		return f.server.engine.HasGlobalIndex(about.Table, f.Index)
	}
	return f.Index == "" || f.Index == about.Index
}

// harms tells whether the fault can befall a target: a read outside of a
// transaction waits for none.
func (f *fault) harms(call *engine.Call, about target.Target) bool {
	return f.Do != Conflict || !about.Read || is(call.Operation, api.Transaction)
}

// contains tells whether a key has all attributes of another.
func contains(key, part attr.Map) bool {
	for _, want := range part {
		if v, ok := key.Get(want.Name); !ok || !v.Equal(want.Value) {
			return false
		}
	}
	return true
}

// onItsWay is a request as the fault sees it on the way to a backend. Which
// attributes make a key is known of a server in this process; to another one the
// fault's own Key tells.
func (f *fault) onItsWay(op string, body []byte) *engine.Call {
	keys := func(string) []string {
		var names []string
		for _, field := range f.key {
			names = append(names, field.Name)
		}
		return names
	}
	if f.server != nil {
		keys = f.server.engine.KeyNames
	}
	return &engine.Call{Operation: op, Targets: target.Of(target.Decode(op, body), keys)}
}

// draw is one for each request about the same thing, the n-th of its kind: it
// does not depend on what others do in the meantime.
func (f *fault) draw(call *engine.Call, hit []bool) float64 {
	h := fnv.New64a()
	io.WriteString(h, call.Operation)
	for i, target := range call.Targets {
		if hit[i] {
			fmt.Fprintf(h, "\x00%s\x00%s\x00%s", target.Table, target.Index, target.Key.AppendJSON(nil))
		}
	}
	about := h.Sum64()
	f.met[about]++
	return rand.New(rand.NewPCG(f.Seed+f.met[about], about)).Float64()
}

// readBody reads the request's body and puts it back.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return body, nil
}

// connectionReset is what a lost connection looks like to net/http, and what
// the SDK sends again for.
func connectionReset(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}
