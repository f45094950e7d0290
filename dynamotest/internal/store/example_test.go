package store_test

import (
	"fmt"

	"github.com/homeops/ddbpatterns/dynamotest/internal/store"
)

func ExampleTree_Clone() {
	var tree store.Tree[int]
	tree.Set("a", 1)
	tree.Set("b", 2)
	before := tree.Clone()
	tree.Set("b", 3)
	tree.Delete("a")
	for _, t := range []*store.Tree[int]{before, &tree} {
		fmt.Println(t.Len(), "entries")
		for key, value := range t.Ascend("") {
			fmt.Println(key, value)
		}
	}
	// Output:
	// 2 entries
	// a 1
	// b 2
	// 1 entries
	// b 3
}
