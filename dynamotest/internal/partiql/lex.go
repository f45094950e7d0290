package partiql

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

type tokenKind uint8

const (
	tokEOF      tokenKind = iota
	tokName               // an identifier
	tokQuoted             // "an identifier"
	tokString             // 'a string'
	tokNumber             // 1.5e3
	tokKeyword            // one of the keywords or phrases
	tokOperator           // an operator, between operands or before one
	tokSymbol             // a bracket, a comma, ? or ;
	tokIllegal            // text without a meaning
)

// A token is a span of the source. For a phrase it is the first word.
type token struct {
	kind       tokenKind
	start, end int
	text       string // without its quotes; a keyword in lower case
}

// is reports whether t is the keyword, the operator or the symbol s.
func (t token) is(s string) bool { return t.kind >= tokKeyword && t.text == s }

// isName reports whether t may be the name of something.
func (t token) isName() bool { return t.kind == tokName || t.kind == tokQuoted }

// signs are the operators and symbols, the longer before the shorter.
var signs = []string{
	"<<", ">>", "<=", ">=", "<>", "!=", "||", "=", "<", ">", "+", "-", "*", "/", "%", "@",
	",", ".", ":", ";", "?", "(", ")", "[", "]", "{", "}",
}

// firstSymbol is the index in signs of the first symbol, except << and >>.
var firstSymbol = slices.Index(signs, ",")

// lex cuts src into tokens. It does not fail: text that it cannot read becomes
// an illegal token, and ends the list.
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
		i = t.end
		if n := len(tokens); n > 0 && t.kind >= tokKeyword && tokens[n-1].kind >= tokKeyword && phrases[[2]string{tokens[n-1].text, t.text}] {
			tokens[n-1].text += " " + t.text
			continue
		}

		tokens = append(tokens, t)
		if t.kind == tokIllegal {
			return tokens
		}
	}
}

// skipBlank returns the end of white space and comments that begin at i, or -1
// if a comment does not end.
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
		return number(src, i)
	case isLetter(c):
		return word(src, i)
	}

	for n, s := range signs {
		if strings.HasPrefix(src[i:], s) {
			t := token{tokOperator, i, i + len(s), s}
			if n >= firstSymbol || s == "<<" || s == ">>" {
				t.kind = tokSymbol
			}
			if s == "!=" {
				t.text = "<>"
			}
			return t
		}
	}
	return token{kind: tokIllegal, start: i, end: i + 1}
}

func word(src string, i int) token {
	end := i
	for end < len(src) && (isLetter(src[end]) || isDigit(src[end])) {
		end++
	}
	t := token{tokName, i, end, src[i:end]}
	switch lower := strings.ToLower(t.text); {
	case slices.Contains(operatorWords, lower):
		t.kind, t.text = tokOperator, lower
	case keywords[lower]:
		t.kind, t.text = tokKeyword, lower
	}
	return t
}

// quoted returns a token in quotes. Two quotes inside stand for one.
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

// number returns the number that starts at i. Letters directly after it are the
// next token, unless they are an exponent. The scale must fit into 32 bits.
func number(src string, i int) token {
	start := i
	digits := func() (any bool) {
		for i < len(src) && isDigit(src[i]) {
			i, any = i+1, true
		}
		return any
	}

	digits()
	if i < len(src) && src[i] == '.' {
		i++
		digits()
	}

	whole := true
	if i < len(src) && (src[i] == 'e' || src[i] == 'E') {
		if i++; i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		whole = digits()
	}

	t := token{tokNumber, start, i, src[start:i]}
	if !whole || !fitsScale(t.text) {
		t.kind = tokIllegal
	}

	return t
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}

// fitsScale reports whether the exponent of a number, and the exponent minus
// the count of digits after the point, fit into 32 bits. Otherwise DynamoDB
// cannot read the number at all.
func fitsScale(text string) bool {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(text), "e")
	exp := int64(0)
	if ok {
		var err error
		if exp, err = strconv.ParseInt(exponent, 10, 32); err != nil {
			return false
		}
	}
	_, fraction, _ := strings.Cut(mantissa, ".")
	scale := int64(len(fraction)) - exp
	return math.MinInt32 <= scale && scale <= math.MaxInt32
}
