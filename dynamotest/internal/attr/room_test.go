package attr_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// The room for a map of many attributes is not kept for the small ones after it.
func TestRoomOfLongMapIsNotKept(t *testing.T) { // not parallel: it measures the heap
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one room for all
	heap := func() uint64 {
		var m runtime.MemStats
		for range 4 { // what a pool has survives one collection, or more when it is used
			if _, err := attr.DecodeMap(jsonx.NewReader([]byte(`{"a":{"S":"b"}}`))); err != nil {
				t.Fatal(err)
			}
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var long strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&long, `,"a%d":{"NULL":true}`, i)
	}
	body := []byte("{" + long.String()[1:] + "}")
	long.Reset()
	before := heap()
	if _, err := attr.DecodeMap(jsonx.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	after := heap()
	if kept := int64(after) - int64(before); kept > 1<<20 {
		t.Errorf("%d bytes are kept", kept)
	}
	runtime.KeepAlive(body)
}
