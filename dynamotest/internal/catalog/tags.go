package catalog

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// CheckTags refuses more tags, or keys of tags, than a table can have.
func CheckTags(n int) *api.Error {
	if n > api.MaxTags {
		return api.InvalidParameter("Too many tags: at most %d are allowed", api.MaxTags)
	}
	return nil
}

// checkNewTags checks the tags of a table that is to be created.
func checkNewTags(tags []api.Tag) *api.Error {
	if err := CheckTags(len(tags)); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, tag := range tags {
		if seen[tag.Key] {
			return api.InvalidParameter("Duplicate tag key in Tags: %s", tag.Key)
		}
		seen[tag.Key] = true
	}
	return nil
}
