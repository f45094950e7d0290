package activity

import "math"

// The pages of a walk without a Limit grow, so that an early break pays for
// few rows and a long walk makes few requests. The first is one read unit,
// 4 KB, on rows up to 1 KB. No more rows than the last's fit into the 1 MB
// that DynamoDB reads at once.
const (
	firstPage = 4
	growth    = 4
	lastPage  = 1 << 14
)

// pace says how many rows each query of a walk asks for: behind the first at
// most what its Limit lacks, and as many again as were skipped so far. So it
// never reads more than the Limit and twice what was skipped, and its requests
// grow with the logarithm of these.
type pace struct {
	rows    int // what the next query asks for
	page    int // the most it may
	lacks   int // activities that the Limit still lacks
	skipped int // rows that were no part of the answer
	left    int // rows that ReadAtMost leaves
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

// turn comes after a page. One that ended among rows which the next begins
// behind says nothing of what is there: the pages start small again.
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
