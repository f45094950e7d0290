package tree_test

import (
	"fmt"

	"github.com/homeops/ddbpatterns/dynamotest/internal/tree"
)

func ExampleTree_Clone() {
	var byKey tree.Tree[int]
	byKey.Set("a", 1)
	byKey.Set("b", 2)
	before := byKey.Clone()
	byKey.Set("b", 3)
	byKey.Delete("a")
	for _, t := range []*tree.Tree[int]{before, &byKey} {
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
