package activity

import "math"

// The pages of a walk without a Limit grow, so that an early break pays for few
// rows and a long walk makes few requests. The first page has 4 rows: one read
// unit of 4 KB, if rows have up to 1 KB. The last size is the greatest number
// of rows that fit into the 1 MB that DynamoDB reads at once.
const (
	firstPage = 4
	growth    = 4
	lastPage  = 1 << 14
)

// pace is how many rows each query of a walk asks for: after the first page at
// most what the Limit lacks, and as many again as were skipped so far. So the
// walk never reads more than the Limit and twice what was skipped, and its
// requests grow with the logarithm of these.
type pace struct {
	rows    int // that the next query asks for
	page    int // that a query may ask for, at most
	lacks   int // activities that are still missing to the Limit
	skipped int // rows that were not part of the answer
	left    int // rows that ReadAtMost still allows
}

// paceOf begins with a page of the given size.
func paceOf(r Range, size int) pace {
	p := pace{page: min(size, lastPage), lacks: math.MaxInt, left: math.MaxInt}
	if r.Limit > 0 {
		p.lacks = r.Limit
	}
	if r.ReadAtMost > 0 {
		p.left = r.ReadAtMost
	}
	p.rows = min(p.page, p.left)
	return p
}

// turn prepares the next page. After a jump behind rows that only look alike
// the pages start small again, because the rows read so far say nothing about
// those behind the jump.
func (p *pace) turn(read, yielded int, jumped bool) {
	p.lacks -= yielded
	p.skipped += read - yielded
	p.left -= read
	p.page = min(p.page*growth, lastPage)
	if jumped {
		p.page = firstPage
	}
	p.rows = min(p.page, min(p.lacks, lastPage)+p.skipped, p.left)
}
