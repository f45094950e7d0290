package ddb

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// refusal is the error of a refused write, with another form of the existing item.
type refusal struct {
	error
	failed types.ConditionalCheckFailedException
}

func (r *refusal) Unwrap() error { return r.error }

func (r *refusal) As(target any) bool {
	failed, ok := target.(**types.ConditionalCheckFailedException)
	if ok {
		*failed = &r.failed
	}
	return ok
}

// MapRefused returns the error of a write. If the write was refused, [Refused] returns
// what change makes of the existing item.
func MapRefused(err error, change func(Item) Item) error {
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return err
	}
	r := &refusal{err, *failed}
	r.failed.Item = change(failed.Item)
	return r
}
