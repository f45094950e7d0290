package report

import (
	"cmp"
	"fmt"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/page"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

// Costs adds up what deliveries cost.
type Costs struct {
	ByKind map[string]*KindCost
	All    dynamotest.Cost
}

// KindCost is what deliveries of a kind cost: all together, and the dearest.
type KindCost struct {
	Deliveries int
	All, Most  dynamotest.Price
}

func newCosts() Costs {
	return Costs{ByKind: map[string]*KindCost{}}
}

// kindOf splits the worker's kinds where the price differs. Deliveries without
// a kind are a row of their own, because "none" is a kind: that of messages
// that were read.
func kindOf(r worker.Report) string {
	kind := cmp.Or(string(r.Kind), "of another kind")
	switch {
	case r.Err != nil:
		return "failed, comes back"
	case r.Duplicate:
		return kind + ", again"
	case r.Kind == worker.KindJob:
		return kind + " " + jobOf(r).Name
	case r.Kind != worker.KindActivity:
		return kind
	case len(r.Recorded) > 1:
		return kind + ", several at once"
	case r.Sent != "":
		return kind + ", answered"
	}
	return kind + ", silent"
}

func (c *Costs) add(kind string, cost dynamotest.Cost) {
	k := c.ByKind[kind]
	if k == nil {
		k = new(KindCost)
		c.ByKind[kind] = k
	}
	k.add(cost)
	page.Add(&c.All, cost)
}

func (k *KindCost) add(cost dynamotest.Cost) {
	p := cost.Price()
	k.Deliveries++
	k.All = dynamotest.Price{Requests: k.All.Requests + p.Requests, RCU: k.All.RCU + p.RCU, WCU: k.All.WCU + p.WCU}
	k.Most = dynamotest.Price{Requests: max(k.Most.Requests, p.Requests), RCU: max(k.Most.RCU, p.RCU), WCU: max(k.Most.WCU, p.WCU)}
}

// mean writes the mean of a kind: "8" or "2.4".
func mean(sum float64, n int) string { return fmt.Sprintf("%.4g", sum/float64(n)) }
