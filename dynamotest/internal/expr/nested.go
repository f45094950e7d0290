package expr

// The parts of a request may be absent: nil has no paths.

// Nested returns the names of the top-level attributes in which the condition
// reads a nested value. Attributes of a key are scalars, so they have no nested
// values.
func (p *Predicate) Nested() (heads []string) {
	if p == nil {
		return nil
	}
	p.collectNested(p.root, &heads)
	return heads
}

func (b *binding) collectNested(n *node, heads *[]string) {
	if n.op == opPath && len(n.path) > 1 {
		*heads = append(*heads, b.stepName(n.path[0]))
	}
	for i := range n.args {
		b.collectNested(&n.args[i], heads)
	}
}

// Nested returns the names of the top-level attributes in which the update
// changes or reads a nested value.
func (c *Change) Nested() (heads []string) {
	if c == nil {
		return nil
	}
	for _, a := range c.actions {
		if len(a.path) > 1 {
			heads = append(heads, a.path[0].name)
		}
		c.collectNested(a.value, &heads)
	}
	return heads
}

// Nested returns the names of the top-level attributes from which only a part
// is selected.
func (s *Selection) Nested() (heads []string) {
	if s == nil {
		return nil
	}
	for _, b := range s.tree.branches {
		if !b.isLeaf() {
			heads = append(heads, b.step.name)
		}
	}
	return heads
}
