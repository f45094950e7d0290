package limit

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// What a write does to the time of a limit, and its condition. An update has no
// maximum, so the sender must know whether the time lies ahead of the clock.
const (
	setFree, ifFree = "#t = :free", "(attribute_not_exists(#t) OR #t <= :now)" // all of Burst is there
	setBusy, ifBusy = "#t = #t + :more", "#t > :now AND #t <= :room"
	giveBack        = "#t = #t - :less"

	// A time that no writer of today can have put there is replaced. The condition is
	// not #t > :x: a late duplicate would find a time above its old :x that is right.
	ifSeen = "#t = :seen"
)

// The register: an entry is pushed in, the row knows nothing of an event, and the row
// has a take. The right sides of SET read the row as it was before.
var shift, unknown, isTaken = func() (string, string, string) {
	shift, unknown, isTaken := "SET #type = :type, #ttl = :ttl, #l0 = :entry", "NOT begins_with(#l0, :event)", "(#l0 = :taken"
	for i, l := range attributes[1:register] {
		shift += ", #" + l + " = if_not_exists(#" + attributes[i] + ", :none)"
		unknown += " AND NOT begins_with(#" + l + ", :event)"
		isTaken += " OR #" + l + " = :taken"
	}
	return shift, unknown, isTaken + ") AND "
}()

// write is a write of a key's row.
type write struct {
	*asked
	taken string  // the entry that must be in the register, "" if none must
	event string  // no entry may begin with it
	entry string  // is pushed into the register
	adds  []int64 // to the time of each limit
	rooms []int64 // the latest times that it may find
}

// request makes the write for limits whose times are thought to be these.
func (s *Store) request(w write, times []int64) *dynamodb.UpdateItemInput {
	names := item.Names(append([]string{attrType, attrTTL}, attributes[:register]...)...)
	values := ddb.Item{
		":type": item.S(typeLimit), ":ttl": item.N(s.expiry(w.asked)),
		":entry": item.S(w.entry), ":event": item.S(w.event), ":none": item.S(""),
	}
	set, condition := shift, unknown
	if w.taken != "" {
		values[":taken"], condition = item.S(w.taken), isTaken+unknown
	}
	for i, t := range times {
		n := strconv.Itoa(i)
		add := func(update, when string, used ddb.Item) {
			for name, value := range used {
				values[name] = value
			}
			of := strings.NewReplacer("#t", "#t"+n, ":free", ":free"+n, ":more", ":more"+n, ":less", ":less"+n, ":room", ":room"+n, ":seen", ":seen"+n)
			names["#t"+n] = timePrefix + w.Limits[i].Name
			set += ", " + of.Replace(update)
			if when != "" {
				condition += " AND " + of.Replace(when)
			}
		}
		switch more := w.adds[i]; {
		case more == 0:
		case more < 0:
			add(giveBack, "", ddb.Item{":less" + n: number(-more)})
		case s.absurd(w.asked, i, t):
			add(setFree, ifSeen, ddb.Item{":free" + n: number(w.now + more), ":seen" + n: number(t)})
		case t > w.now:
			add(setBusy, ifBusy, ddb.Item{":now": number(w.now), ":more" + n: number(more), ":room" + n: number(w.rooms[i])})
		default:
			add(setFree, ifFree, ddb.Item{":now": number(w.now), ":free" + n: number(w.now + more)})
		}
	}
	return &dynamodb.UpdateItemInput{
		TableName: aws.String(s.table), Key: w.key(),
		UpdateExpression: aws.String(set), ConditionExpression: aws.String(condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValues: types.ReturnValueAllNew, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// absurd reports whether no writer of today can have set the limit's time.
func (s *Store) absurd(w *asked, i int, t int64) bool {
	return t > w.now+w.spans[i].burst+int64(s.cfg.MaxWait+s.cfg.MaxSkew)
}

// expiry is the ttl: an hour after all limits are full again, whatever happens. It
// does not depend on the times in the row, because an update cannot convert them.
func (s *Store) expiry(w *asked) int64 {
	var longest int64
	for _, of := range w.spans {
		longest = max(longest, of.burst)
	}
	return ceil(w.now+longest+int64(s.cfg.MaxWait+grace), int64(time.Second))
}

// send returns the row after the write, or the one that refused it, and its times.
func (s *Store) send(ctx context.Context, w write, times []int64) (row ddb.Item, after []int64, refused bool, err error) {
	in := s.request(w, times)
	err = ddb.Retry(ctx, func() error {
		out, err := s.api.UpdateItem(ctx, in)
		if err == nil {
			row = out.Attributes
		}
		return err
	})
	if old, is := ddb.Refused(err); is {
		row, refused, err = old, true, nil
	}
	if err == nil {
		after, err = timesOf(row, w.Limits)
	}
	return row, after, refused, err
}
