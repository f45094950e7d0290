package expr

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// Params are the placeholders of one request, for all of its expressions. They
// record which of them were used. Only one goroutine at a time may bind with
// them.
type Params struct {
	names      []namePlaceholder // sorted
	values     attr.Map
	usedValues []bool
}

type namePlaceholder struct {
	key, name string
	used      bool
}

// NewParams returns the placeholders of a request, from
// ExpressionAttributeNames and ExpressionAttributeValues. Their names begin
// with # and : . Either may be empty.
func NewParams(names map[string]string, values attr.Map) (*Params, error) {
	p := &Params{values: values, usedValues: make([]bool, len(values))}
	if len(names) > 0 {
		p.names = make([]namePlaceholder, 0, len(names))
	}

	for key, name := range names {
		p.names = append(p.names, namePlaceholder{key: key, name: name})
	}

	slices.SortFunc(p.names, func(a, b namePlaceholder) int { return strings.Compare(a.key, b.key) })
	for _, n := range p.names {
		switch {
		case !isPlaceholder(n.key, '#'):
			return nil, &Error{Reason: msgPlaceholder("ExpressionAttributeNames", n.key)}
		case wrongName(n.name) != nil:
			return nil, &Error{Reason: msgWrongName(wrongName(n.name).Reason, n.key)}
		}
	}

	for _, f := range values {
		if !isPlaceholder(f.Name, ':') {
			return nil, &Error{Reason: msgPlaceholder("ExpressionAttributeValues", f.Name)}
		}
	}
	return p, nil
}

// wrongName returns the error of an attribute's name, or nil.
func wrongName(name string) *Error {
	switch {
	case name == "":
		return &Error{Reason: msgNoName}
	case len(name) > attr.MaxName:
		return &Error{Reason: attr.MsgLongName}
	}
	return nil
}

func isPlaceholder(key string, sigil byte) bool {
	return len(key) > 1 && key[0] == sigil && wordEnd(key, 1) == len(key)
}

// Unused returns an error that lists the placeholders that no expression has
// used.
func (p *Params) Unused() error {
	var keys []string
	for _, n := range p.names {
		if !n.used {
			keys = append(keys, n.key)
		}
	}

	if keys != nil {
		return &Error{Reason: msgUnused("ExpressionAttributeNames", keys)}
	}

	for i, f := range p.values {
		if !p.usedValues[i] {
			keys = append(keys, f.Name)
		}
	}

	if keys != nil {
		return &Error{Reason: msgUnused("ExpressionAttributeValues", keys)}
	}
	return nil
}

func (p *Params) name(placeholder string) (string, bool) {
	i, ok := slices.BinarySearchFunc(p.names, placeholder, func(n namePlaceholder, key string) int { return strings.Compare(n.key, key) })
	if !ok {
		return "", false
	}
	p.names[i].used = true
	return p.names[i].name, true
}

func (p *Params) value(placeholder string) (attr.Value, bool) {
	i, ok := p.values.Find(placeholder)
	if !ok {
		return attr.Value{}, false
	}
	p.usedValues[i] = true
	return p.values[i].Value, true
}

// A binding has the values of the placeholders of one expression.
type binding struct {
	clause string // or the parameter that an expression has replaced; empty if composed
	params *Params
	names  []string // by slot; for the steps of paths
	values []attr.Value
	// The placeholders themselves, by slot.
	nameKeys  []string
	valueKeys []string
	err       *Error
}

func bind(clause string, params *Params, names, values []string) *binding {
	return &binding{
		clause: clause, params: params,
		names: make([]string, len(names)), nameKeys: names,
		values: make([]attr.Value, len(values)), valueKeys: values,
	}
}

// Origin returns the name of the expression or of the parameter in the request. It
// is empty for what was composed.
func (b *binding) Origin() string { return b.clause }

// fail keeps the first error.
func (b *binding) fail(reason string) {
	if b.err == nil {
		b.err = &Error{Clause: b.clause, Reason: reason}
	}
}

func (b *binding) resolvePath(p path) {
	for _, s := range p {
		if s.slot != noSlot {
			b.resolveName(s.slot)
		}
	}
}

func (b *binding) resolveName(slot int) {
	name, ok := b.params.name(b.nameKeys[slot])
	if !ok {
		b.fail(msgUndefinedName(b.nameKeys[slot]))
	}
	b.names[slot] = name
}

func (b *binding) resolveValue(slot int) {
	v, ok := b.params.value(b.valueKeys[slot])
	if !ok {
		b.fail(msgUndefinedValue(b.valueKeys[slot]))
	}
	b.values[slot] = v
}

// resolve looks up every placeholder below n, in the order of the source.
func (b *binding) resolve(n *node) {
	switch n.op {
	case opPath:
		b.resolvePath(n.path)
	case opValue:
		b.resolveValue(n.slot)
	}
	for i := range n.args {
		b.resolve(&n.args[i])
	}
}

// stepName returns the attribute that a step names.
func (b *binding) stepName(s step) string {
	if s.slot != noSlot {
		return b.names[s.slot]
	}
	return s.name
}

// full returns p with its placeholders replaced.
func (b *binding) full(p path) path {
	if !slices.ContainsFunc(p, func(s step) bool { return s.slot != noSlot }) {
		return p
	}
	out := slices.Clone(p)
	for i, s := range out {
		out[i].name, out[i].slot = b.stepName(s), noSlot
	}
	return out
}

// samePath reports whether two paths lead to the same place.
func (b *binding) samePath(p, q path) bool {
	return slices.EqualFunc(p, q, func(s, t step) bool {
		return s.index == t.index && b.stepName(s) == b.stepName(t)
	})
}

// lookup follows a path into an item.
func (b *binding) lookup(item attr.Map, p path) (attr.Value, bool) {
	v, ok := item.Get(b.stepName(p[0]))
	for _, s := range p[1:] {
		if !ok {
			return attr.Value{}, false
		}
		if s.isIndex() {
			list := v.List()
			if s.index >= len(list) {
				return attr.Value{}, false
			}
			v = list[s.index]
		} else {
			v, ok = v.Map().Get(b.stepName(s))
		}
	}

	return v, ok
}
