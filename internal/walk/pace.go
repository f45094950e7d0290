package walk

import "math"

// Without a Limit the pages grow, so that an early break pays for few rows and a
// long walk makes few requests.
const growth = 4

// pace is how many rows each query of a walk asks for: after the first page at
// most what the Limit lacks, and as many again as were skipped so far. So the
// walk never reads more than the Limit and twice what was skipped, and its
// requests grow with the logarithm of these.
type pace struct {
	rows    int // that the next query asks for
	page    int // that a query may ask for, at most
	lacks   int // values that are still missing to the Limit
	skipped int // rows that were not part of the answer
	left    int // rows that ReadAtMost still allows
}

// paceOf begins with a page of the given size.
func paceOf(limit, readAtMost, size int) pace {
	p := pace{page: size, lacks: math.MaxInt, left: math.MaxInt}
	if limit > 0 {
		p.lacks = limit
	}
	if readAtMost > 0 {
		p.left = readAtMost
	}
	p.rows = min(p.page, p.left)
	return p
}

// turn prepares the next page.
func (p *pace) turn(read, yielded, most int) {
	p.lacks -= yielded
	p.skipped += read - yielded
	p.left -= read
	p.page = min(p.page*growth, most)
	p.rows = min(p.page, min(p.lacks, FullPage)+p.skipped, p.left)
}
