package ema

import "github.com/homeops/ddbpatterns/record"

// ErrContended is returned by [Store.Observe] when other writers of the row won
// all 16 attempts. The event may have been counted, because the last attempt may
// have taken effect and lost its reply. Observe the same event again: it counts
// only once. If the error is frequent, the row gets more events at a time than
// single writes can count. ErrContended is [record.ErrContended].
var ErrContended = record.ErrContended
