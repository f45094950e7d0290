//go:build !race

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/schema"
)

// The memory of a deleted table goes back to the system. The race detector keeps
// memory of its own.
func TestMemoryOfADeletedTable(t *testing.T) {
	t.Parallel()
	p := start(t, filepath.Join(t.TempDir(), "data"))
	if err := schema.Create(t.Context(), p.client, schema.Table{Name: "orders", Key: schema.Key{Partition: schema.String("pk")}}); err != nil {
		t.Fatal(err)
	}
	large := &types.AttributeValueMemberS{Value: strings.Repeat("x", 390_000)}
	for i := range 250 {
		item := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)}, "data": large}
		if _, err := p.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	full := resident(t, p.cmd.Process.Pid)
	if _, err := p.client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("orders")}); err != nil {
		t.Fatal(err)
	}
	left := full
	for end := time.Now().Add(20 * time.Second); left > 60 && time.Now().Before(end); left = resident(t, p.cmd.Process.Pid) {
		<-time.After(50 * time.Millisecond)
	}
	if full < 97 || left > 60 {
		t.Errorf("%d MB, and %d after the table was deleted", full, left)
	}
}

// resident returns how many MB of memory a process has.
func resident(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kB, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB / 1000
}
