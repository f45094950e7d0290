package histories_test

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// These read the attributes of FORMAT.md from a row, without the packages under
// test.

func str(r row, name string) string {
	if v, ok := r[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func num(r row, name string) int64 {
	v, ok := r[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func float(r row, name string) float64 {
	v, ok := r[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	x, err := strconv.ParseFloat(v.Value, 64)
	if err != nil {
		panic(err)
	}
	return x
}

func bin(r row, name string) []byte {
	if v, ok := r[name].(*types.AttributeValueMemberB); ok {
		return v.Value
	}
	return nil
}

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func n(number int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(number, 10)}
}

func same(a, b row) bool { return reflect.DeepEqual(a, b) }

// text is the row for people.
func text(r row) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		switch v := r[name].(type) {
		case *types.AttributeValueMemberS:
			parts = append(parts, fmt.Sprintf("%s %q", name, v.Value))
		case *types.AttributeValueMemberN:
			parts = append(parts, name+" "+v.Value)
		case *types.AttributeValueMemberB:
			parts = append(parts, fmt.Sprintf("%s %x…", name, bytes.Clone(v.Value[:min(4, len(v.Value))])))
		case *types.AttributeValueMemberM:
			parts = append(parts, fmt.Sprintf("%s {%s}", name, text(v.Value)))
		default:
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, ", ")
}
