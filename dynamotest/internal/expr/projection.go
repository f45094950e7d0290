package expr

import "github.com/homeops/ddbpatterns/dynamotest/internal/attr"

// A Projection is a parsed ProjectionExpression.
type Projection struct {
	paths []path
	names []string
}

// ParseProjection parses a ProjectionExpression.
func ParseProjection(src string) (*Projection, error) {
	p := newParser(ProjectionExpression, src)
	paths := []path{p.path(nil)}
	for p.symbol(",") {
		paths = append(paths, p.path(nil))
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return &Projection{paths, p.names}, nil
}

// A Selection is a projection whose placeholders are resolved.
type Selection struct {
	tree    *tree
	columns []Path // for NewColumns: used instead of the tree

	Origin string // the name of the parameter in the request; empty for NewColumns
}

// Bind resolves the projection's placeholders and checks its paths.
func (p *Projection) Bind(params *Params) (*Selection, error) {
	b := bind(ProjectionExpression, params, p.names, nil)
	for slot := range p.names {
		b.resolveName(slot)
	}

	paths := make([]path, len(p.paths))
	for i := range p.paths {
		paths[i] = b.full(p.paths[i])
	}

	b.checkPaths(paths)
	if b.err != nil {
		return nil, b.err
	}

	return &Selection{tree: newTree(paths), Origin: ProjectionExpression}, nil
}

// Apply returns the selected part of an item.
func (s *Selection) Apply(item attr.Map) attr.Map {
	if s.columns != nil {
		return s.pickColumns(item)
	}
	return s.tree.pick(item)
}

// Heads returns the names of the top-level attributes selected, sorted.
func (s *Selection) Heads() []string {
	heads := make([]string, len(s.tree.branches))
	for i, b := range s.tree.branches {
		heads[i] = b.step.name
	}
	return heads
}
