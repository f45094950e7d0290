package limit

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Get answers what [Store.Take] would answer, and takes nothing: OK, RetryAfter and
// Remaining. The Event is left out of account. It reads the row as it stood a moment
// ago, with an eventually consistent read.
//
// Price: 1 request, 0.5 RCU.
func (s *Store) Get(ctx context.Context, t Take) (Grant, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	w, err := s.asked(t)
	if err != nil || !w.fits() {
		return Grant{}, err
	}
	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.table), Key: w.key()})
	if err != nil {
		return Grant{}, s.wrap("Get", err)
	}
	times, err := timesOf(out.Item, w.Limits)
	if err != nil {
		return Grant{}, s.wrap("Get", err)
	}
	for i, t := range times {
		if s.absurd(w, i, t) {
			times[i] = 0
		}
	}
	return w.grant(times, s.judge(w, times)), nil
}
