package limit

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// The attributes of a row. Each limit has an attribute of its own, named by
// timePrefix and the limit's name.
const attrPK, attrSK, attrType, attrTTL, timePrefix = "pk", "sk", "type", "ttl", "t_"

// The type of a row, which also begins its pk, and its sk.
const typeLimit, sortKey = "LIMIT", "limit"

// What an entry has after its event. The weights follow, in the order of limits' names.
const taken, settled = "~", "="

// What a write does to the time of a limit, and its condition; ? is the limit's number.
// An update has no maximum, so the sender must know whether the time lies ahead of the
// clock.
const (
	setFree, ifFree = "#t? = :free?", " AND (attribute_not_exists(#t?) OR #t? <= :now?)" // all of Burst is there
	setBusy, ifBusy = "#t? = #t? + :more?", " AND #t? > :now? AND #t? <= :room?"
	giveBack        = "#t? = #t? - :less?"

	// A time that no writer of today can have put there is replaced. The condition is
	// not #t > :x, because a late duplicate may find a right time above its old :x.
	ifSeen = " AND #t? = :seen?"
)

// registerSize is how many writes a row remembers, in l0 to l15, the latest first.
const registerSize = 16

// attributes are what Config.Names can name, the register's first. An entry is pushed
// into the register by shift, whose right sides read the row as it was before. The
// condition unknown is that the row has nothing of an event, isTaken that it has a take.
var attributes, shift, unknown, isTaken = func() (all []string, shift, unknown, isTaken string) {
	for i := range registerSize {
		l := "#l" + strconv.Itoa(i)
		all, unknown, isTaken = append(all, l[1:]), unknown+" AND NOT begins_with("+l+", :event)", isTaken+" OR "+l+" = :taken"
		if i > 0 {
			shift += ", " + l + " = if_not_exists(#" + all[i-1] + ", :none)"
		}
	}
	return append(all, attrPK, attrSK, attrType, attrTTL), "SET #type = :type, #ttl = :ttl, #l0 = :entry" + shift, unknown[len(" AND "):], "(" + isTaken[len(" OR "):] + ") AND "
}()

// entryOf returns the latest entry of the call's event in the row, "" if there is none.
// An entry goes on after its event.
func (c *call) entryOf(row ddb.Item) string {
	ev := c.Event.String()
	for _, l := range attributes[:registerSize] {
		if text := item.Text(row, l); strings.HasPrefix(text, ev) && len(text) > len(ev) {
			return text
		}
	}
	return ""
}

// number is a time or a span in nanoseconds, as the row has it: in milliseconds with
// up to six decimals.
func number(ns int64) types.AttributeValue {
	return item.Digits(strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%06d", ns/1e6, ns%1e6), "0"), "."))
}

// timesOf returns the times of the limits in the row in Unix nanoseconds, 0 for one
// that the row does not have. It refuses what number cannot have written.
func (c *call) timesOf(row ddb.Item) (times []int64, err error) {
	for _, l := range c.Limits {
		ns, name := int64(0), timePrefix+l.Name
		if item.Has(row, name) {
			whole, fraction, _ := strings.Cut(item.Text(row, name), ".")
			if ns, err = strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64); err != nil || len(fraction) > 6 {
				return nil, fmt.Errorf("attribute %s is not a time in milliseconds", name)
			}
		}
		times = append(times, ns)
	}
	return times, nil
}

func (c *call) key() ddb.Item { return ddb.Item{attrPK: item.S(c.row), attrSK: item.S(sortKey)} }

// send makes the write for limits whose times are thought to be the call's. It returns
// the row after the write, or the row that refused it, and the times in the row.
func (s *Store) send(ctx context.Context, c *call) (row ddb.Item, after []int64, refused bool, err error) {
	// The ttl is an hour after all limits are full again, whatever happens. It does not
	// depend on the times in the row, because an update cannot convert them.
	expiry := ceil(c.now+c.longest+int64(s.cfg.MaxWait+grace), 1e9)
	values := ddb.Item{
		":type": item.S(typeLimit), ":ttl": item.N(expiry),
		":entry": item.S(c.entry), ":event": item.S(c.event), ":none": item.S(""),
	}

	set, condition, names := shift, unknown, item.NamesIn(shift, unknown)
	if c.taken != "" {
		values[":taken"], condition = item.S(c.taken), isTaken+unknown
	}

	for i, t := range c.times {
		of, n := c.spans[i], strconv.Itoa(i)
		update, when, used := setFree, ifFree, map[string]int64{":free": c.now + of.add, ":now": c.now}
		switch {
		case of.add == 0:
			continue
		case of.add < 0:
			update, when, used = giveBack, "", map[string]int64{":less": -of.add}
		case c.absurd(i, t):
			when, used = ifSeen, map[string]int64{":free": c.now + of.add, ":seen": t}
		case c.taken != "" && t+of.add > c.now+of.burst: // all debts together have a bound
			when, used = ifSeen, map[string]int64{":free": c.now + of.burst, ":seen": t}
		case t > c.now:
			update, when, used = setBusy, ifBusy, map[string]int64{":more": of.add, ":now": c.now, ":room": c.now + of.burst + int64(c.Wait) - of.add}
		}

		for name, ns := range used {
			values[name+n] = number(ns)
		}
		names["#t"+n] = timePrefix + c.Limits[i].Name
		set, condition = set+", "+strings.ReplaceAll(update, "?", n), condition+strings.ReplaceAll(when, "?", n)
	}

	in := &dynamodb.UpdateItemInput{
		TableName: aws.String(s.table), Key: c.key(),
		UpdateExpression: aws.String(set), ConditionExpression: aws.String(condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValues: types.ReturnValueAllNew, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}

	if row, refused, err = ddb.Update(ctx, s.api.UpdateItem, in); err == nil {
		after, err = c.timesOf(row)
	}
	return row, after, refused, err
}

// Settle sets what a take holds to its final weights, by the names of its limits,
// such as the tokens that a request did use. A limit that is not named keeps its
// weight; 0 for all gives the take back. Give the Take of the [Grant]: the event, the
// limits and their weights must be as they were taken. A take is settled once.
//
// What is settled above what was taken is a debt: it is taken even without room, and comes
// back with time. All debts of a limit together keep later takes waiting at most for the
// refill of Burst and Config.MaxWait; more is forgiven.
//
// Settle while fewer than 16 writes of the key have followed the take. After that the
// answer is [ErrForgotten], and a debt is not counted. A call and its settlement are two
// writes, so that happens with some 8 calls of a key under way, or with one long call
// among short ones. Then estimate high, or on ErrForgotten Take the debt, with Wait. To
// settle minutes later, on a busy key, use Adjust of package counter: it has no such bound.
// If a client hangs up, its context ends: settle with [context.WithoutCancel].
//
// The answer is Created or, if the event was settled to the same weights before,
// Duplicate.
//
// Errors: an [*event.InputError]; [ErrSettled]; [ErrForgotten]; [ErrContended]; the
// API's error, after which it is safe to call again.
//
// Price: 1 request, 1 WCU. A debt on an idle limit, or above the bound, takes 2 requests.
func (s *Store) Settle(ctx context.Context, t Take, to map[string]int64) (event.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	c, err := s.check(t)
	if err = cmp.Or(err, t.Event.Check(pkg, "Take.Event", s.cfg.Now()), c.settleTo(to)); err != nil {
		return 0, err
	}

	for n := 0; err == nil && n < tries; n++ {
		row, after, refused, failed := s.send(ctx, c)
		if err = failed; err != nil {
			break
		}

		s.memory.learn(c, after)
		switch text := c.entryOf(row); {
		case !refused:
			return event.Created, nil
		case text == c.entry:
			return event.Duplicate, nil
		case strings.HasPrefix(text, c.event):
			err = ErrSettled
		case text != c.taken:
			err = ErrForgotten
		}

		c.times, c.now = after, s.cfg.Now().UnixNano()
	}
	return 0, ddb.Wrap(pkg, "Settle", s.table, cmp.Or(err, ErrContended))
}

// settleTo makes the call a settlement.
func (c *call) settleTo(to map[string]int64) error {
	c.taken, c.event, c.Wait = c.entryWith(taken), c.Event.String()+settled, 0
	known := 0
	for i := range c.Limits {
		l, of, weight := &c.Limits[i], &c.spans[i], c.Limits[i].Weight
		if w, given := to[l.Name]; given {
			weight, known = w, known+1
		}
		if weight < 0 || weight > mostWeight {
			return event.BadInput(pkg, "to", fmt.Sprintf("must have weights from 0 to 1,000,000,000,000, has %d for %s", weight, l.Name))
		}
		c.times = append(c.times, c.now+1) // a debt is mostly that of a busy key
		of.add, l.Weight = span(weight-l.Weight, of.unit), weight
		of.burst = of.most - int64(maxSkew) // more could be absurd to the next take
	}

	c.entry = c.entryWith(settled)
	return check.Refuse(pkg, "to", known < len(to), "must name only limits of the take")
}
