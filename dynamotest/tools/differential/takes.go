package main

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
)

// brings are the sections of an update expression that leave something.
var brings = regexp.MustCompile(`\b(SET|ADD)\b`)

// takesAway reports whether an update takes away and does nothing else.
func takesAway(update object) bool {
	if text, ok := update["UpdateExpression"].(string); ok {
		return !brings.MatchString(text)
	}
	actions, _ := update["AttributeUpdates"].(object)
	for _, action := range actions {
		if fields, _ := action.(object); fields["Action"] != "DELETE" {
			return false
		}
	}
	return len(actions) > 0
}

// takers are the updates of a request that only take away.
func (r request) takers() (out []object) {
	switch r.op {
	case "UpdateItem":
		if takesAway(r.body) {
			out = append(out, r.body)
		}
	case "TransactWriteItems":
		var body struct{ TransactItems []object }
		text, _ := json.Marshal(r.body)
		_ = json.Unmarshal(text, &body) // what is mangled has none
		for _, fields := range body.TransactItems {
			if update, ok := fields["Update"].(object); ok && takesAway(update) {
				out = append(out, update)
			}
		}
	}
	return out
}

// mend deletes what an update that only took away has made of nothing: AWS makes
// no item then, as the tests of another server that were run against it say, and
// DynamoDB Local does. It would cause other differences.
func (r *run) mend(ctx context.Context, req request) error {
	for _, update := range req.takers() {
		at := object{"TableName": update["TableName"], "Key": update["Key"]}
		get := request{op: "GetItem", body: object{"TableName": at["TableName"], "Key": at["Key"], "ConsistentRead": true}}
		ours, theirs, err := r.answers(ctx, get)
		if err != nil {
			return err
		}
		if ours.status == http.StatusOK && ours.body["Item"] == nil && theirs.body["Item"] != nil {
			if _, err := r.theirs.ask(ctx, request{op: "DeleteItem", body: at}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameNames reports whether two items have attributes of the same names.
func sameNames(one, other any) bool {
	x, _ := one.(object)
	y, _ := other.(object)
	for name := range x {
		if y[name] == nil {
			return false
		}
	}
	return len(x) == len(y)
}
