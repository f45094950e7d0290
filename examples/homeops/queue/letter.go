package queue

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Attributes of a dead letter.
const (
	// Reason is why it is dead. A letter that SQS itself moved has no reason.
	Reason = "reason"
	// Delivery is the id that the message had in the queue.
	Delivery = "delivery"
	// Encoding is "base64" for a body that was refused: its bytes may be anything.
	Encoding = "encoding"
	// FullSize and FullHash belong to a refused body that was too large, and is
	// cut: how many bytes it had, and their SHA-256 in hexadecimal digits.
	FullSize = "bytes"
	FullHash = "sha256"
)

const isBase64 = "base64"

// nothing is base64 of no bytes, as a body: a message has at least one character.
const nothing = "\n"

// mostReason bounds a reason, in bytes.
const mostReason = 1000

// Refusal is the dead letter of a body that can never be processed: base64 of
// the body, or of as much as fits into a message of the given limit.
func Refusal(body []byte, attributes map[string]string, reason string, limit int) (string, map[string]string) {
	attributes = WithReason(attributes, reason)
	attributes[Encoding] = isBase64
	if base64.StdEncoding.EncodedLen(len(body))+sizeOf(attributes) > limit {
		sum := sha256.Sum256(body)
		attributes[FullSize], attributes[FullHash] = strconv.Itoa(len(body)), hex.EncodeToString(sum[:])
		body = body[:max(0, min(len(body), base64.StdEncoding.DecodedLen(limit-sizeOf(attributes))))]
	}
	text := base64.StdEncoding.EncodeToString(body)
	if text == "" {
		text = nothing
	}
	return text, attributes
}

// WithReason returns a copy of the attributes with the reason, bounded and as
// text that SQS takes.
func WithReason(attributes map[string]string, reason string) map[string]string {
	attributes = maps.Clone(attributes)
	if attributes == nil {
		attributes = map[string]string{}
	}
	reason = strings.Map(func(r rune) rune {
		if isRefused(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, reason)
	if len(reason) > mostReason {
		reason = strings.ToValidUTF8(reason[:mostReason-len("…")], "") + "…"
	}
	if reason == "" {
		reason = "unknown"
	}
	attributes[Reason] = reason
	return attributes
}

// WithoutReason returns the attributes that the message had in the queue.
func WithoutReason(attributes map[string]string) map[string]string {
	attributes = maps.Clone(attributes)
	for _, name := range []string{Reason, Delivery, Encoding, FullSize, FullHash} {
		delete(attributes, name)
	}
	return attributes
}

// Why says why a letter is dead.
func (m Message) Why() string {
	if reason := m.Attributes[Reason]; reason != "" {
		return reason
	}
	return fmt.Sprintf("no reason, %d receives", m.Receives)
}

// Content is the original body of a letter. Whole is false if the letter holds
// only its beginning, or cannot be decoded.
func (m Message) Content() (body []byte, whole bool) {
	if m.Attributes[Encoding] == "" {
		return []byte(m.Body), true
	}
	body, err := base64.StdEncoding.DecodeString(m.Body)
	if err != nil || m.Attributes[Encoding] != isBase64 {
		return []byte(m.Body), false
	}
	return body, m.Attributes[FullSize] == ""
}
