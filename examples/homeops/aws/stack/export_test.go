package stack

import (
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/schema"
)

// Tables returns the tables of the configuration as they are deployed.
func Tables(cfg config.Config) ([]schema.Table, error) {
	a, err := stores(cfg)
	if err != nil {
		return nil, err
	}
	return schema.Merge(tablesOf(a)...)
}
