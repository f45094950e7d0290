package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// maxItem is the most bytes of an item.
const maxItem = 400 * 1024

// The errors of items and updates that are too large.
var (
	errItemSize   = api.OfWhole(api.Invalid("Item size has exceeded the maximum allowed size"))
	errUpdateSize = api.Invalid("Item size to update has exceeded the maximum allowed size")
	errUpdateSays = api.OfWhole(api.Invalid("%s", errUpdateSize.Message))
)

// tooLarge refuses a write that is too large for any stored item: by its item
// to put, or by its expression. A transaction is refused for it as a whole.
func (w *write) tooLarge() *api.Error {
	switch {
	case w.kind == api.Put:
		if w.size = w.req.Item.Size(); w.size > maxItem {
			return errItemSize
		}
	case w.req.Update.Set && w.Change.Charge() > maxItem:
		return errUpdateSays
	}
	return nil
}

// record returns the item after a write as a record.
func (w *write) record(after attr.Map) *record {
	if w.kind == api.Put {
		return &record{item: after, size: w.size}
	}
	return newRecord(after)
}

func sizeOf(rec *record) int {
	if rec == nil {
		return 0
	}
	return rec.size
}
