package queue

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"
)

// TooLargeError says that a message is over the queue's limit.
type TooLargeError struct{ Size, Limit int }

// Error gives both sizes.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("queue: a message of %d bytes is over the queue's limit of %d", e.Size, e.Limit)
}

// BusyError says that the queue took nothing, and when the caller may send the
// same message again.
type BusyError struct {
	Reason string
	After  time.Duration // when to send it again
}

// Error gives the reason.
func (e *BusyError) Error() string { return "queue: busy: " + e.Reason }

// ErrInvalidContents says that a body holds what SQS refuses: most control
// characters, U+FFFE and U+FFFF, or no characters at all.
var ErrInvalidContents = errors.New("queue: the body is empty or holds characters that SQS refuses")

// Check refuses what SQS would refuse: a message over the limit, attributes
// included, or one whose body or attributes are not text. SQS counts names,
// types and values of attributes.
func Check(body string, attributes map[string]string, limit int) error {
	if size := len(body) + sizeOf(attributes); size > limit {
		return &TooLargeError{Size: size, Limit: limit}
	}
	if !isText(body) {
		return ErrInvalidContents
	}
	for name, value := range attributes {
		if !isText(value) {
			return fmt.Errorf("attribute %s: %w", name, ErrInvalidContents)
		}
	}
	return nil
}

// NonEmpty returns a copy of the attributes without those that are empty, which
// SQS refuses.
func NonEmpty(attributes map[string]string) map[string]string {
	attributes = maps.Clone(attributes)
	maps.DeleteFunc(attributes, func(_, value string) bool { return value == "" })
	return attributes
}

func sizeOf(attributes map[string]string) (size int) {
	for name, value := range attributes {
		size += len(name) + len(DataType(name)) + len(value)
	}
	return size
}

func isText(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsFunc(text, isRefused)
}

// isRefused reports whether SQS refuses the character.
func isRefused(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
}

// DataType is SQS's type of an attribute.
func DataType(name string) string {
	switch name {
	case MessageID, FullSize:
		return "Number"
	}
	return "String"
}
