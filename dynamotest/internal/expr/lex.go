package expr

import (
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEOF     tokenKind = iota
	tokWord              // an identifier or a keyword
	tokName              // #name
	tokValue             // :value
	tokNumber            // digits, the index of a list
	tokSymbol            // an operator or a bracket
	tokIllegal           // a character without a meaning
)

// A token is a span of the source.
type token struct {
	kind       tokenKind
	start, end int
}

// lex cuts src into tokens. It does not fail: text that it cannot read becomes
// an illegal token, which the parser refuses at its place.
func lex(src string) []token {
	tokens := make([]token, 0, len(src)/4+2)
	for i := 0; ; {
		for i < len(src) && isSpace(src[i]) {
			i++
		}
		if i == len(src) {
			return append(tokens, token{tokEOF, i, i})
		}
		kind, end := scan(src, i)
		tokens = append(tokens, token{kind, i, end})
		i = end
	}
}

// scan returns the kind and the end of the token that starts at i.
func scan(src string, i int) (tokenKind, int) {
	switch c := src[i]; {
	case isLetter(c):
		return tokWord, wordEnd(src, i)
	case isDigit(c):
		end := i
		for end < len(src) && isDigit(src[end]) {
			end++
		}
		return tokNumber, end
	case c == '#' || c == ':':
		return scanPlaceholder(src, i)
	case c == '<' || c == '>':
		if i+1 < len(src) && (src[i+1] == '=' || c == '<' && src[i+1] == '>') {
			return tokSymbol, i + 2
		}
		return tokSymbol, i + 1
	case strings.IndexByte("=()[],.+-", c) >= 0:
		return tokSymbol, i + 1
	}

	_, size := utf8.DecodeRuneInString(src[i:])
	return tokIllegal, i + size
}

func scanPlaceholder(src string, i int) (tokenKind, int) {
	end := wordEnd(src, i+1)
	switch {
	case end == i+1:
		return tokIllegal, end
	case src[i] == '#':
		return tokName, end
	}
	return tokValue, end
}

// wordEnd returns the end of a word whose beginning was read. An underscore may
// stand inside a word and begin that of a placeholder, but it cannot begin a
// name.
func wordEnd(src string, i int) int {
	for i < len(src) && (isLetter(src[i]) || isDigit(src[i]) || src[i] == '_') {
		i++
	}
	return i
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
