package expr

// The bytes that DynamoDB charges for the parts of an update, in addition to the
// names and values themselves. They count towards the limit of an item. They
// were bisected on AWS in October 2026, to the byte.
const (
	chargeUpdate  = 3
	chargeWrite   = 19 // SET and ADD
	chargeClear   = 1  // REMOVE and DELETE
	chargeInside  = 4  // each element of a target after the first
	chargeOperand = 1  // a path that is read
	chargeElement = 14 // each element of such a path
)

// charged has the bytes of a function or an operator, without its operands.
var charged = [...]int{opPlus: 34, opMinus: 37, opListAppend: 37, opIfNotExists: 39}

// Charge returns the bytes of the update by which DynamoDB judges whether it is
// too large. They depend on the update alone, not on the item. Values count in
// full. Paths count by their own length, not by what they read. The operand of
// DELETE is free.
func (c *Change) Charge() int {
	bytes := chargeUpdate
	for i := range c.actions {
		a := &c.actions[i]
		bytes += chargeClear
		for at, s := range a.path {
			bytes += s.size()
			if at > 0 {
				bytes += chargeInside
			}
		}
		if a.verb == verbSet || a.verb == verbAdd {
			bytes += chargeWrite - chargeClear + c.chargeOf(a.value)
		}
	}

	return bytes
}

// chargeOf returns the bytes of an operand of SET or ADD.
func (c *Change) chargeOf(n *node) int {
	switch n.op {
	case opValue:
		return c.values[n.slot].Size()
	case opPath:
		bytes := chargeOperand
		for _, s := range n.path {
			s.name = c.stepName(s)
			bytes += chargeElement + s.size()
		}
		return bytes
	}

	bytes := charged[n.op]
	for i := range n.args {
		bytes += c.chargeOf(&n.args[i])
	}

	return bytes
}

// size returns the bytes of a step: those of its name, or its digits.
func (s step) size() int {
	if !s.isIndex() {
		return len(s.name)
	}
	digits := 1
	for i := s.index; i >= 10; i /= 10 {
		digits++
	}
	return digits
}

// Clears reports whether the update only removes.
func (c *Change) Clears() bool {
	for i := range c.actions {
		if v := c.actions[i].verb; v == verbSet || v == verbAdd {
			return false
		}
	}
	return true
}
