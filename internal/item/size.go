package item

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// MaxSize is how many bytes an item may have, names included.
const MaxSize = 400 * 1024

// Size is the item's size as DynamoDB counts it: names and values, text as
// UTF-8, numbers by their significant digits, 3 bytes for a list or map and 1
// for each of its elements.
func Size(it ddb.Item) int {
	size := 0
	for name, value := range it {
		size += len(name) + sizeOf(value)
	}
	return size
}

func sizeOf(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberL:
		size := 3
		for _, element := range v.Value {
			size += 1 + sizeOf(element)
		}
		return size
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + Size(v.Value)
	}
	return 1 // BOOL and NULL; the format has no sets
}

// numberSize is 1, a byte for two digits on either side of the point, and 1 for
// a sign. The digits of an exponent count, too, so the size may come out a
// little too large.
func numberSize(text string) int {
	size := 1
	if strings.HasPrefix(text, "-") {
		size++
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(text, "-+0"), ".")
	return size + (len(whole)+1)/2 + (len(fraction)+1)/2
}

// CheckSize refuses an item over 400 KB. Field names the input that makes it so
// large.
func CheckSize(pkg, field string, it ddb.Item) error {
	if size := Size(it); size > MaxSize {
		return event.BadInput(pkg, field, fmt.Sprintf("makes an item of %d bytes, and DynamoDB accepts at most %d", size, MaxSize))
	}
	return nil
}
