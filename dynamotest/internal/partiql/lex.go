package partiql

import (
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEOF     tokenKind = iota
	tokWord              // an identifier or a keyword
	tokQuoted            // "an identifier"
	tokString            // 'a string'
	tokNumber            // 1.5e3
	tokSymbol            // an operator, a bracket, ? or ;
	tokIllegal           // what means nothing
)

// A token is a span of the source.
type token struct {
	kind       tokenKind
	start, end int
	text       string // of a quoted one without its quotes, else as it is written
}

// symbols are the signs of the language, the longer before the shorter.
var symbols = []string{"<<", ">>", "<=", ">=", "<>", "!=", "=", "<", ">", "+", "-", "*", ",", ".", ":", ";", "?", "(", ")", "[", "]", "{", "}"}

// lex cuts src into tokens. It does not fail: what it cannot read becomes an
// illegal token, and the end.
func lex(src string) []token {
	tokens := make([]token, 0, len(src)/4+2)
	for i := 0; ; {
		i = skipBlank(src, i)
		if i < 0 {
			return append(tokens, token{kind: tokIllegal, start: len(src), end: len(src)})
		}
		if i == len(src) {
			return append(tokens, token{kind: tokEOF, start: i, end: i})
		}
		t := scan(src, i)
		tokens = append(tokens, t)
		if t.kind == tokIllegal {
			return tokens
		}
		i = t.end
	}
}

// skipBlank returns where white space and comments end that begin at i, or -1
// when a comment does not end.
func skipBlank(src string, i int) int {
	for i < len(src) {
		switch {
		case strings.IndexByte(" \t\r\n\f\v", src[i]) >= 0:
			i++
		case strings.HasPrefix(src[i:], "--"):
			end := strings.IndexByte(src[i:], '\n')
			if end < 0 {
				return len(src)
			}
			i += end + 1
		case strings.HasPrefix(src[i:], "/*"):
			end := strings.Index(src[i+2:], "*/")
			if end < 0 {
				return -1
			}
			i += end + 4
		default:
			return i
		}
	}
	return i
}

// scan returns the token that starts at i.
func scan(src string, i int) token {
	switch c := src[i]; {
	case c == '\'':
		return quoted(src, i, tokString)
	case c == '"':
		return quoted(src, i, tokQuoted)
	case isDigit(c) || c == '.' && i+1 < len(src) && isDigit(src[i+1]):
		end := numberEnd(src, i)
		return token{tokNumber, i, end, src[i:end]}
	case isWord(c):
		end := i
		for end < len(src) && (isWord(src[end]) || isDigit(src[end])) {
			end++
		}
		return token{tokWord, i, end, src[i:end]}
	}
	for _, s := range symbols {
		if strings.HasPrefix(src[i:], s) {
			return token{tokSymbol, i, i + len(s), s}
		}
	}
	_, size := utf8.DecodeRuneInString(src[i:])
	return token{tokIllegal, i, i + size, src[i : i+size]}
}

// quoted returns a token in quotes, of which two stand for one inside.
func quoted(src string, i int, kind tokenKind) token {
	quote := src[i : i+1]
	for end := i + 1; ; {
		n := strings.Index(src[end:], quote)
		if n < 0 {
			return token{tokIllegal, i, len(src), src[i:]}
		}
		end += n + 1
		if strings.HasPrefix(src[end:], quote) {
			end++
			continue
		}
		text := strings.ReplaceAll(src[i+1:end-1], quote+quote, quote)
		return token{kind, i, end, text}
	}
}

// numberEnd returns where the number ends that starts at i. Letters that follow
// at once, other than an exponent, are the next token.
func numberEnd(src string, i int) int {
	digits := func() {
		for i < len(src) && isDigit(src[i]) {
			i++
		}
	}
	digits()
	if i < len(src) && src[i] == '.' {
		i++
		digits()
	}
	if i < len(src) && (src[i] == 'e' || src[i] == 'E') {
		exp := i + 1
		if exp < len(src) && (src[exp] == '+' || src[exp] == '-') {
			exp++
		}
		if exp < len(src) && isDigit(src[exp]) {
			i = exp
			digits()
		}
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWord reports whether a word may begin with c. What is not ASCII is a letter.
func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}
