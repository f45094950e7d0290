package journal

import (
	"fmt"
	"math/big"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// Times are kept as nanoseconds since 1970, with any number of digits. 64 bits
// hold only the years 1678 to 2262, and a test may set its clock to any year.

var second = big.NewInt(int64(time.Second))

func appendTime(b []byte, t time.Time) []byte {
	if n := t.UnixNano(); time.Unix(0, n).Equal(t) {
		return strconv.AppendInt(b, n, 10)
	}
	n := new(big.Int).Mul(big.NewInt(t.Unix()), second)
	return n.Add(n, big.NewInt(int64(t.Nanosecond()))).Append(b, 10)
}

// WriteTime writes a member that is a time.
func WriteTime(w *api.Writer, name string, t time.Time) {
	w.Key(name)
	w.Buf = appendTime(w.Buf, t)
}

// longestTime is the length of the longest time whose seconds 64 bits hold.
const longestTime = len("-9223372036854775808000000000")

// ParseTime reads a time as it was written.
func ParseTime(text string) (time.Time, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(0, n), nil
	}

	n, ok := new(big.Int), len(text) <= longestTime
	if ok {
		n, ok = n.SetString(text, 10)
	}

	if ok {
		seconds, rest := n.DivMod(n, second, new(big.Int)) // rest is never negative
		if seconds.IsInt64() {
			return time.Unix(seconds.Int64(), rest.Int64()), nil
		}
	}
	return time.Time{}, fmt.Errorf("no time: %.40q", text)
}
