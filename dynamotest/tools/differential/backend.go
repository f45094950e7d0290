package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

type object = map[string]any

// A request is an operation with its parameters.
type request struct {
	op   string
	body object
	// raw, if not empty, is sent instead of the body.
	raw string
	// pages is set if all pages are to be read.
	pages bool
	// segments is the number of segments of a parallel scan.
	segments int
	// unordered is set where DynamoDB promises no order.
	unordered bool
	// mangled is set if no SDK would send the request.
	mangled bool
}

func (r request) String() string {
	text := r.raw
	if text == "" {
		body, _ := json.Marshal(r.body) // maps of strings and lists marshal
		text = string(body)
	}

	notes := ""
	if r.pages {
		notes += " (all pages)"
	}

	if r.segments > 0 {
		notes += " (all segments)"
	}
	return r.op + notes + " " + short(text)
}

// short leaves out the middle of a long text.
func short(text string) string {
	const most = 3000
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s… %d bytes …%s", text[:most/2], len(text)-most, text[len(text)-most/2:])
}

// A backend is a DynamoDB at an endpoint.
type backend struct {
	url    string
	client *http.Client
	caller string // DynamoDB Local gives each caller tables of its own
	nonce  string // makes the tokens of requests new
}

// ask sends a request, and the requests for its other pages and segments.
func (b backend) ask(ctx context.Context, req request) (answer, error) {
	body := req.body
	if token, ok := body["ClientRequestToken"].(string); ok && token != "" {
		body = maps.Clone(body)
		body["ClientRequestToken"] = token + b.nonce
	}

	if req.raw == "" && (req.pages || req.segments > 0) {
		return b.gather(ctx, req)
	}

	a, err := b.send(ctx, req.op, body, req.raw)
	if err != nil {
		return a, err
	}

	if a.status == http.StatusOK {
		a.separate(req)
		switch req.op {
		case "DeleteTable":
			delete(a.body, "TableDescription") // each server shortens it in its own way
		case "UpdateTable":
			description, err := b.settled(ctx, body["TableName"])
			if err != nil {
				return a, err
			}
			if description == nil {
				return answer{status: http.StatusInternalServerError, kind: neverReady}, nil
			}
			a.body["TableDescription"] = description
		}
		describe(a.body["Table"])
		describe(a.body["TableDescription"])
		statements(&a)
	}

	normalize(a.body, req.unordered)
	normalize(a.accounts, true)
	return a, nil
}

// settled describes a table after its indexes are created and deleted: in
// dynamotest at once, in DynamoDB Local after a while.
func (b backend) settled(ctx context.Context, name any) (any, error) {
	for range 1000 {
		a, err := b.send(ctx, "DescribeTable", object{"TableName": name}, "")
		if err != nil {
			return nil, err
		}
		text, _ := json.Marshal(a.body)
		if !bytes.Contains(text, []byte(`"CREATING"`)) && !bytes.Contains(text, []byte(`"DELETING"`)) {
			return a.body["Table"], nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, nil
}

// gather reads all pages of all segments: the items of one page differ between
// servers, the items of all pages do not.
func (b backend) gather(ctx context.Context, req request) (answer, error) {
	all := answer{status: http.StatusOK}
	items := []any{}
	var counted, scanned float64

	for segment := range max(1, req.segments) {
		body := maps.Clone(req.body)
		if req.segments > 0 {
			body["Segment"] = segment
		}

		for range 1000 {
			a, err := b.send(ctx, req.op, body, "")
			if err != nil || a.status != http.StatusOK {
				return a, err
			}
			page, _ := a.body["Items"].([]any)
			items = append(items, page...)
			n, _ := a.body["Count"].(float64)
			m, _ := a.body["ScannedCount"].(float64)
			counted, scanned = counted+n, scanned+m
			if !follow(req.op, body, a.body) {
				break
			}
		}
	}

	all.body = object{"Items": items, "Count": counted, "ScannedCount": scanned}
	normalize(all.body, req.unordered)
	return all, nil
}

// follow turns the request for a page into that for the next one, and reports
// whether there is one to read.
func follow(op string, body, reply object) bool {
	in, out := "ExclusiveStartKey", "LastEvaluatedKey"
	if op == "ExecuteStatement" {
		in, out = "NextToken", "NextToken"
	}
	if reply[out] == nil {
		return false
	}
	body[in] = reply[out]
	return true
}

func (b backend) send(ctx context.Context, op string, body object, raw string) (answer, error) {
	text := []byte(raw)
	if raw == "" {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return answer{}, err
		}
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url, bytes.NewReader(text))
	if err != nil {
		return answer{}, err
	}

	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+op)
	req.Header.Set("X-Amz-Date", "20260101T000000Z")
	// DynamoDB Local requires a signature, and accepts any.
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+b.caller+"/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00")
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
		return a, fmt.Errorf("%s: reply %q: %w", op, reply, err)
	}

	if a.status != http.StatusOK {
		a.failed()
	}
	return a, nil
}

// failed keeps the compared parts of an error: its type, the item that it
// shows, and the codes of a transaction's reasons.
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
		codes, items := make([]any, len(reasons)), make([]any, len(reasons))
		for i, reason := range reasons {
			codes[i], items[i] = reason.(object)["Code"], reason.(object)["Item"]
			if text, ok := reason.(object)["Message"].(string); ok {
				a.message += "; " + text
			}
		}
		kept["Codes"], kept["Items"] = codes, items
	}

	a.body = kept
	normalize(a.body, false)
}
