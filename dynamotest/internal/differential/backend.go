package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

type object = map[string]any

// A request is an operation with its parameters.
type request struct {
	op   string
	body object
	// pages is set for a Query that is to be read to its end.
	pages bool
	// unordered is set where DynamoDB promises no order.
	unordered bool
}

func (r request) String() string {
	text, _ := json.Marshal(r.body) // maps of strings and lists marshal
	return r.op + " " + string(text)
}

// An answer is what matters of a reply.
type answer struct {
	status  int
	kind    string // of the error
	message string
	body    object
}

func (a answer) String() string {
	if a.status != http.StatusOK {
		return fmt.Sprintf("%d %s: %s", a.status, a.kind, a.message)
	}
	text, _ := json.Marshal(a.body)
	return string(text)
}

func (a answer) equal(b answer) bool {
	return a.status == b.status && a.kind == b.kind && reflect.DeepEqual(a.body, b.body)
}

// A backend is a DynamoDB at an endpoint.
type backend struct {
	url    string
	client *http.Client
}

func remote(url string, client *http.Client) backend { return backend{url, client} }

// ask sends a request, and those for the pages that follow if they are wanted.
func (b backend) ask(ctx context.Context, req request) (answer, error) {
	a, err := b.send(ctx, req.op, req.body)
	if err != nil || a.status != http.StatusOK {
		return a, err
	}
	items, _ := a.body["Items"].([]any)
	counts := []any{a.body["Count"]}
	for req.pages && a.body["LastEvaluatedKey"] != nil {
		next := object{}
		for k, v := range req.body {
			next[k] = v
		}
		next["ExclusiveStartKey"] = a.body["LastEvaluatedKey"]
		if a, err = b.send(ctx, req.op, next); err != nil || a.status != http.StatusOK {
			return a, err
		}
		more, _ := a.body["Items"].([]any)
		items = append(items, more...)
		counts = append(counts, a.body["Count"])
	}
	if req.pages {
		if len(counts) > 1 && a.body["ScannedCount"] == 0. {
			// A page that its limit ends exactly at the last item has a key to go
			// on from on AWS, and none on DynamoDB Local.
			counts = counts[:len(counts)-1]
		}
		a.body = object{"Items": items, "Counts": counts}
	}
	// Nobody asked for it, yet DynamoDB Local tells it of some calls.
	delete(a.body, "ConsumedCapacity")
	normalize(a.body, req.unordered)
	return a, nil
}

func (b backend) send(ctx context.Context, op string, body object) (answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url, bytes.NewReader(text))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+op)
	req.Header.Set("X-Amz-Date", "20260101T000000Z")
	// DynamoDB Local wants to see a signature, and believes any.
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00")
	res, err := b.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode}
	if err := json.Unmarshal(reply, &a.body); err != nil && len(reply) > 0 {
		return a, fmt.Errorf("%s: %q: %w", op, reply, err)
	}
	if a.status != http.StatusOK {
		a.failed()
	}
	return a, nil
}

// failed keeps what matters of an error: its type, the item that it shows, and
// the codes of a transaction's reasons.
func (a *answer) failed() {
	kind, _ := a.body["__type"].(string)
	a.kind = kind[strings.LastIndexByte(kind, '#')+1:]
	for _, name := range []string{"message", "Message"} {
		if text, ok := a.body[name].(string); ok {
			a.message = text
		}
	}
	kept := object{}
	if item, ok := a.body["Item"]; ok {
		kept["Item"] = item
	}
	if reasons, ok := a.body["CancellationReasons"].([]any); ok {
		codes := make([]any, len(reasons))
		for i, reason := range reasons {
			codes[i] = reason.(object)["Code"]
			if text, ok := reason.(object)["Message"].(string); ok {
				a.message += "; " + text
			}
		}
		kept["Codes"] = codes
	}
	a.body = kept
	normalize(a.body, false)
}

// normalize brings what has no order into one: sets always, lists of items
// where the request promises none. Numbers get one form: DynamoDB Local keeps
// leading zeros and exponents, which AWS does not.
func normalize(v any, unordered bool) {
	switch v := v.(type) {
	case object:
		for name, member := range v {
			normalize(member, unordered)
			if text, ok := member.(string); ok && name == "N" {
				v[name] = number(text)
			}
			list, ok := member.([]any)
			if ok && name == "NS" {
				for i, e := range list {
					list[i] = number(e.(string))
				}
			}
			if ok && (name == "SS" || name == "NS" || name == "BS" || unordered && name != "L") {
				slices.SortFunc(list, byText)
			}
		}
	case []any:
		for _, e := range v {
			normalize(e, unordered)
		}
	}
}

// number returns the same text for equal numbers.
func number(text string) string {
	if r, ok := new(big.Rat).SetString(text); ok {
		return r.RatString()
	}
	return text
}

func byText(a, b any) int {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Compare(x, y)
}
