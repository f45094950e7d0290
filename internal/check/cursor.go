package check

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"

	"github.com/homeops/ddbpatterns/event"
)

// cursorVersion is the first byte of every cursor.
const cursorVersion = 1

// maxCursor bounds what DecodeCursor reads: the keys of a position are at most
// 2,048 + 1,024 bytes each for table and index.
const maxCursor = 16 << 10

// EncodeCursor turns the position after a row, a list of key values, into text that
// a caller can carry. It holds the position inside a partition, never the partition:
// that always comes from the query, so a forged cursor cannot leave it. The checksum
// catches a cut or mistyped cursor, not a forger. The query's name is part of it, so
// a cursor of one query is refused by another.
func EncodeCursor(query string, position []string) string {
	values := make([][]byte, len(position)) // as bytes: JSON's text would not keep all
	for i, value := range position {
		values[i] = []byte(value)
	}
	body, err := json.Marshal(values)
	if err != nil { // bytes always marshal
		panic("cursor: " + err.Error())
	}
	raw := append([]byte{cursorVersion}, body...)
	raw = binary.BigEndian.AppendUint32(raw, sum(query, raw))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// DecodeCursor reads a cursor of the given query whose position has n values. What
// it refuses is an [event.InputError] of pkg's field.
func DecodeCursor(pkg, field, query, cursor string, n int) ([]string, error) {
	refuse := func(why string) ([]string, error) { return nil, event.BadInput(pkg, field, why) }
	if len(cursor) > maxCursor {
		return refuse("is too long to be a cursor")
	}

	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) < 5 {
		return refuse("is not a cursor")
	}

	body, check := raw[:len(raw)-4], raw[len(raw)-4:]
	switch {
	case binary.BigEndian.Uint32(check) != sum(query, body):
		return refuse("is damaged or belongs to another query")
	case body[0] != cursorVersion:
		return refuse("is of another version: start again from the first page")
	}

	var values [][]byte
	if err := json.Unmarshal(body[1:], &values); err != nil || len(values) != n {
		return refuse("is not a cursor of this query")
	}

	position := make([]string, n)
	for i, value := range values {
		position[i] = string(value)
	}

	return position, nil
}

// sum is the checksum of a cursor: of its query's name and its bytes.
func sum(query string, raw []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(query)), crc32.IEEETable, raw)
}
