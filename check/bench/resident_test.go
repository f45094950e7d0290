package bench_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	mostResident = 500 // MB, with a million items of 200 bytes
	mostLeft     = 60  // MB, at most ten seconds after the table was deleted
)

// BenchmarkResident measures the memory of the command in a process of its own,
// according to Linux: with a million items of 200 bytes that came over the socket,
// and after their table was deleted. It fails if either is too much.
func BenchmarkResident(b *testing.B) {
	command := commands(b)[0]
	for b.Loop() {
		p := command.start(b)
		post(b, p.endpoint, "CreateTable", `{"TableName":"bench","BillingMode":"PAY_PER_REQUEST",
			"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`)
		began := time.Now()
		most := fill(b, p)
		b.ReportMetric(time.Since(began).Seconds(), "load-s")
		full := resident(b, p.pid)
		post(b, p.endpoint, "DeleteTable", `{"TableName":"bench"}`)
		left := resident(b, p.pid)
		for end := time.Now().Add(10 * time.Second); left > mostLeft && time.Now().Before(end); left = resident(b, p.pid) {
			<-time.After(100 * time.Millisecond)
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(most, "most-MB")
		b.ReportMetric(full, "full-MB")
		b.ReportMetric(left, "left-MB")
		if most > mostResident || left > mostLeft {
			b.Errorf("%.0f MB resident while it was filled, then %.0f, and %.0f after the table was deleted; want %d and %d at most", most, full, left, mostResident, mostLeft)
		}
		p.stop()
	}
}

// fill puts a million items of 200 bytes, by their size in DynamoDB, and returns
// the most memory that the process had meanwhile, in MB.
func fill(b *testing.B, p process) (most float64) {
	b.Helper()
	const requests, items = 40_000, 25
	var next atomic.Int64
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			for n := next.Add(1) - 1; n < requests; n = next.Add(1) - 1 {
				var body strings.Builder
				for i := range items {
					// Not in the order of the keys. 2 + 10 + 4 + 184 bytes.
					fmt.Fprintf(&body, `,{"PutRequest":{"Item":{"id":{"S":"%010d"},"data":{"S":"%s"}}}}`, (n*items+int64(i))*7919%1_000_003, payload[:184])
				}
				if err := send(p.endpoint, "BatchWriteItem", `{"RequestItems":{"bench":[`+body.String()[1:]+`]}}`); err != nil {
					return err
				}
			}
			return nil
		})
	}
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()
	for {
		select {
		case err := <-done:
			if err != nil {
				b.Fatal(err)
			}
			return max(most, resident(b, p.pid))
		case <-time.After(100 * time.Millisecond):
			most = max(most, resident(b, p.pid))
		}
	}
}

func post(b *testing.B, endpoint, operation, body string) {
	b.Helper()
	if err := send(endpoint, operation, body); err != nil {
		b.Fatal(err)
	}
}

func send(endpoint, operation, body string) error {
	r, err := http.NewRequest(http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", operation, res.StatusCode, text)
	}
	return err
}
