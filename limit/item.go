package limit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// The attributes of a row. Each limit has an attribute of its own, named by
// timePrefix and the limit's name.
const (
	attrPK     = "pk"
	attrSK     = "sk"
	attrType   = "type"
	attrTTL    = "ttl"
	timePrefix = "t_"

	typeLimit = "LIMIT"
	sortKey   = "limit"
)

// register is how many writes a row remembers, in l0 to l15, the latest first.
const register = 16

// attributes are what Config.Names can name. The first are those of the register.
var attributes = func() (all []string) {
	for i := range register {
		all = append(all, "l"+strconv.Itoa(i))
	}
	return append(all, attrPK, attrSK, attrType, attrTTL)
}()

// What an entry says of its event. The weights follow, by the names of their limits.
const (
	taken   = "~"
	settled = "="
)

// entryOf returns the latest entry of the event in the row, "" if there is none, and
// its weights.
func entryOf(row ddb.Item, ev event.Event) (entry, weights string) {
	for _, l := range attributes[:register] {
		if text := item.Text(row, l); strings.HasPrefix(text, ev.String()) && len(text) > len(ev.String()) {
			return text, text[len(ev.String())+1:]
		}
	}
	return "", ""
}

// number is a time or a span in nanoseconds, as the row has it: in milliseconds with
// up to six decimals.
func number(ns int64) types.AttributeValue {
	return item.Digits(strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%06d", ns/1e6, ns%1e6), "0"), "."))
}

// timesOf returns the times of the limits in the row in Unix nanoseconds, 0 for one
// that the row does not have. It refuses what number cannot have written.
func timesOf(row ddb.Item, limits []Limit) ([]int64, error) {
	times := make([]int64, len(limits))
	for i, l := range limits {
		if !item.Has(row, timePrefix+l.Name) {
			continue
		}
		whole, fraction, _ := strings.Cut(item.Text(row, timePrefix+l.Name), ".")
		ns, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
		if err != nil || len(fraction) > 6 {
			return nil, fmt.Errorf("attribute %s%s is not a time in milliseconds", timePrefix, l.Name)
		}
		times[i] = ns
	}
	return times, nil
}
