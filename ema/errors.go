package ema

import "errors"

// ErrContended is returned by [Store.Observe] when other writers of the row
// won every one of 16 attempts. Nothing was written and the call can be
// repeated; seen often, it says that one row takes more events at once than it
// can.
var ErrContended = errors.New("ema: other writers won every attempt")
