package attr

// MaxNesting is the most levels of an item. The item is the first level, so the
// Depth of every value in it is below MaxNesting.
const MaxNesting = 32

// MaxName is the most bytes of an attribute's name.
const MaxName = 1<<16 - 1

// Size returns the bytes of v by DynamoDB's rules, without its name.
func (v Value) Size() int {
	switch v.Kind() {
	case S, B:
		return len(v.text)
	case N:
		return numberSize(v.text)
	case BOOL, NULL:
		return 1
	case L:
		size := 3
		for _, e := range v.held.list {
			size += 1 + e.Size()
		}
		return size
	case M:
		return 3 + len(v.held.m) + v.held.m.Size()
	case SS, BS:
		size := 0
		for _, e := range v.held.set {
			size += len(e)
		}
		return size
	case NS:
		size := 0
		for _, e := range v.held.set {
			size += numberSize(e)
		}
		return size
	}
	return 0
}

// Size returns the bytes of an item by DynamoDB's rules: names and values.
func (m Map) Size() int {
	size := 0
	for _, f := range m {
		size += len(f.Name) + f.Value.Size()
	}
	return size
}

// numberSize returns one byte, one for every two significant digits on either
// side of the point, and one for a minus.
func numberSize(canonical string) int {
	d := split(canonical)
	whole := min(max(int(d.exp), 0), len(d.digits))
	fraction := len(d.digits) - whole
	size := 1 + (whole+1)/2 + (fraction+1)/2
	if d.neg {
		size++
	}
	return size
}

// Depth returns the number of levels of values below v: zero for a scalar or an
// empty list, one for a list of scalars.
func (v Value) Depth() int {
	deepest := 0
	switch v.Kind() {
	case L:
		for _, e := range v.held.list {
			deepest = max(deepest, 1+e.Depth())
		}
	case M:
		for _, f := range v.held.m {
			deepest = max(deepest, 1+f.Value.Depth())
		}
	}
	return deepest
}
