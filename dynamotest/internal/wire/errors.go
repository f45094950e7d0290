package wire

import (
	"net/http"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
)

// The namespaces of error types.
const (
	modelled  = "com.amazonaws.dynamodb.v20120810#"
	validated = "com.amazon.coral.validate#"
	service   = "com.amazon.coral.service#"
	own       = "dynamotest#"
)

// typeOf returns the name of an error with its namespace, and its status.
func typeOf(code string) (string, int) {
	switch code {
	case api.ValidationException:
		return validated + code, http.StatusBadRequest
	case api.SerializationException, api.UnknownOperation, api.AccessDenied:
		return service + code, http.StatusBadRequest
	case api.RequestTooLarge:
		return service + code, http.StatusRequestEntityTooLarge
	case api.InternalServerError:
		return modelled + code, http.StatusInternalServerError
	case api.ServerClosed:
		return own + code, http.StatusBadRequest
	case api.ServiceUnavailable:
		return service + code, http.StatusServiceUnavailable
	}
	return modelled + code, http.StatusBadRequest
}

// textMember returns the name of the member with the text of an error. AWS's
// model of the service spells it with a capital for some errors of transactions.
// So does AWS's HTTP layer for some of its own errors.
func textMember(code string) string {
	switch code {
	case api.TransactionCanceled, api.IdempotentMismatch,
		api.SerializationException, api.AccessDenied:
		return "Message"
	}
	return "message"
}

// failure renders an error.
func failure(err *api.Error, cost capacity.Cost) Reply {
	name, status := typeOf(err.Code)
	w := api.Writer{}
	w.Open('{')
	w.Text("__type", name)
	w.Text(textMember(err.Code), err.Message)

	if err.Item != nil {
		w.Item("Item", err.Item)
	}

	if len(err.Reasons) > 0 {
		w.Array("CancellationReasons", func() { writeReasons(&w, err.Reasons) })
	}

	if len(err.Throttled) > 0 {
		member := "ThrottlingReasons"
		if err.Code == api.Throttling {
			member = "throttlingReasons" // only here; AWS does the same
		}
		w.Array(member, func() { writeThrottling(&w, err.Throttled) })
	}

	w.Close('}')
	return Reply{Status: status, Body: w.Buf, Cost: cost}
}

func writeReasons(w *api.Writer, reasons []api.Reason) {
	for _, r := range reasons {
		w.Element(func() {
			w.Text("Code", r.Code)
			if r.Message != "" {
				w.Text("Message", r.Message)
			}
			if r.Item != nil {
				w.Item("Item", r.Item)
			}
		})
	}
}

func writeThrottling(w *api.Writer, reasons []api.ThrottlingReason) {
	for _, t := range reasons {
		w.Element(func() {
			w.Text("reason", t.Reason)
			w.Text("resource", t.Resource)
		})
	}
}
