package catalog

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// CheckTags refuses more tags, or keys of tags, than a table can have.
func CheckTags(n int) *api.Error {
	if n > api.MaxTags {
		return api.Invalid("Number of Tags exceed the current limit for the provided ResourceArn")
	}
	return nil
}

// checkNewTags checks the tags of a table to create.
func checkNewTags(tags []api.Tag) *api.Error {
	if err := CheckTags(len(tags)); err != nil {
		return err
	}
	return checkKeys(tags)
}

func checkKeys(tags []api.Tag) *api.Error {
	seen := map[string]bool{}
	for _, tag := range tags {
		if seen[tag.Key] {
			return api.Invalid("Duplicate Tag Keys provided as input: Duplicate Tag Key found %s", tag.Key)
		}
		seen[tag.Key] = true
	}
	return nil
}

// Tagged returns the table with more tags. A tag replaces an older one with the
// same key.
func (t Table) Tagged(more []api.Tag) (Table, *api.Error) {
	if len(more) == 0 {
		return t, api.Invalid("Atleast one Tag needs to be provided as Input.")
	}
	if err := checkKeys(more); err != nil {
		return t, err
	}

	tags := slices.Clone(t.Tags)
	for _, tag := range more {
		i := slices.IndexFunc(tags, func(have api.Tag) bool { return have.Key == tag.Key })
		if i >= 0 {
			tags[i] = tag
		} else {
			tags = append(tags, tag)
		}
	}

	if err := CheckTags(len(tags)); err != nil {
		return t, err
	}

	t.Tags = tags
	return t, nil
}

// Untagged returns the table without the tags of the given keys.
func (t Table) Untagged(keys []string) (Table, *api.Error) {
	if len(keys) == 0 {
		return t, api.Invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	t.Tags = slices.DeleteFunc(slices.Clone(t.Tags), func(tag api.Tag) bool { return slices.Contains(keys, tag.Key) })
	return t, nil
}
