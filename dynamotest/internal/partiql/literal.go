package partiql

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// parameter returns the term for a question mark that was consumed.
func (p *parser) parameter() term {
	p.parameters++
	return term{kind: termParameter, parameter: p.parameters - 1}
}

// literalNext reports whether a literal comes next.
func (p *parser) literalNext() bool {
	switch t := p.peek(); t.kind {
	case tokString, tokNumber:
		return true
	case tokWord:
		return p.ahead("TRUE") || p.ahead("FALSE") || p.ahead("NULL")
	case tokSymbol:
		return slices.Contains([]string{"-", "+", "[", "{", "<<"}, t.text)
	}
	return false
}

// literal reads a value. The place is that of the value in the one that it is
// part of, for the text of an error.
func (p *parser) literal(place string) attr.Value {
	defer p.leave()
	if !p.enter() {
		return attr.Value{}
	}
	switch t := p.peek(); {
	case t.kind == tokString:
		p.pos++
		return attr.String(t.text)
	case t.kind == tokNumber:
		p.pos++
		return p.number("", t, place)
	case p.symbol("-"):
		return p.signed("-", place)
	case p.symbol("+"):
		return p.signed("", place)
	case p.keyword("TRUE"):
		return attr.Bool(true)
	case p.keyword("FALSE"):
		return attr.Bool(false)
	case p.keyword("NULL"):
		return attr.Null()
	case p.symbol("["):
		return p.list(place)
	case p.symbol("{"):
		return p.tuple(place)
	case p.symbol("<<"):
		return p.bag(place)
	case p.symbol("?"):
		p.note(invalid("Unsupported data type: Parameter under key %s %s", place, p.at(t)))
		return attr.Null()
	}
	p.unexpected()
	return attr.Value{}
}

// signed reads a number whose first sign was consumed. More may come.
func (p *parser) signed(sign, place string) attr.Value {
	for p.err == nil {
		switch t := p.peek(); {
		case t.kind == tokNumber:
			p.pos++
			return p.number(sign, t, place)
		case p.symbol("-"):
			if sign += "-"; sign == "--" {
				sign = ""
			}
		case p.symbol("+"):
		default:
			p.fail(unexpectedTerm)
		}
	}
	return attr.Value{}
}

func (p *parser) number(sign string, t token, place string) attr.Value {
	if !fitsScale(t.text) {
		p.fail(noDetail)
		return attr.Value{}
	}
	v, err := attr.Number(sign + t.text)
	p.noteValue(err, " under "+place)
	return v
}

// noteValue notes a value that DynamoDB refuses.
func (p *parser) noteValue(err error, where string) {
	var wrong *attr.Error
	if errors.As(err, &wrong) {
		p.note(invalid("%s%s", wrong.Message, where))
	}
}

// fitsScale reports whether the exponent of a number, and the exponent less the
// digits after the point, fit into 32 bits, as they must for DynamoDB to read
// the number at all.
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

func (p *parser) list(place string) attr.Value {
	list := []attr.Value{}
	if !p.symbol("]") {
		for more := true; more && p.err == nil; more = p.symbol(",") {
			list = append(list, p.literal(place+"["+strconv.Itoa(len(list))+"]"))
		}
		p.expect("]")
	}
	return attr.List(list...)
}

func (p *parser) tuple(place string) attr.Value {
	var fields []attr.Field
	if !p.symbol("}") {
		for more := true; more && p.err == nil; more = p.symbol(",") {
			name := p.memberName()
			fields = append(fields, attr.Field{Name: name, Value: p.literal(place + "." + name)})
		}
		p.expect("}")
	}
	return attr.MapOf(attr.NewMap(fields...))
}

// memberName reads the name of a member of a tuple, and the colon.
func (p *parser) memberName() string {
	t := p.peek()
	if t.kind != tokString {
		p.unexpected()
		return ""
	}
	p.pos++
	p.expect(":")
	return t.text
}

// bag reads a set.
func (p *parser) bag(place string) attr.Value {
	if p.symbol(">>") {
		p.note(invalid(textEmptyBag))
		return attr.Null()
	}
	var kind attr.Kind
	var elems []string
	for more := true; more && p.err == nil; more = p.symbol(",") {
		v := p.literal(place)
		if kind != 0 && v.Kind() != kind || v.Kind() != attr.S && v.Kind() != attr.N {
			p.note(invalid(textMixedBag))
		}
		kind = v.Kind()
		elems = append(elems, v.Str())
	}
	p.expect(">>")
	if p.err != nil || p.noted != nil {
		return attr.Null()
	}
	if kind == attr.S {
		v, err := attr.StringSet(elems...)
		p.noteValue(err, "")
		return v
	}
	v, err := attr.NumberSet(elems...)
	p.noteValue(err, " under "+place)
	return v
}
