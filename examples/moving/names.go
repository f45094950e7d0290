package moving

import (
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Processed returns a ledger on an existing table of processed events.
func Processed(api ledger.API, table string) (*ledger.Store, error) {
	return ledger.New(api, table, &ledger.Config{Names: map[string]string{"pk": "eventId", "expiresAt": "expires"}})
}

// Usage returns a counter that continues the counts in a table of the
// customers' usage by day.
func Usage(api record.API, table string) (*counter.Store, error) {
	return counter.New(api, table, tzclock.UTC, &counter.Config{
		Names: map[string]string{"chatId": "customer", "date": "day", "count": "used", "ttl": "expires"},
	})
}
