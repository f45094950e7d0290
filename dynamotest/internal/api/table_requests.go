package api

import (
	"fmt"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// CreateTable makes a table.
type CreateTable struct {
	TableSettings
	Key    []KeyElement
	KeySet bool
	Local  []Index
	Global []Index
	Tags   []Tag
}

func (t *CreateTable) field(r *jsonx.Reader, member string) {
	switch member {
	case "KeySchema":
		t.Key, t.KeySet = list(r, maxTableKey, keyElement), true
	case "LocalSecondaryIndexes":
		t.Local = list(r, maxIndexes, index)
	case "GlobalSecondaryIndexes":
		t.Global = list(r, maxIndexes, index)
	case "Tags":
		t.Tags = list(r, MaxTags, tag)
	default:
		t.TableSettings.field(r, member)
	}
}

func (t *CreateTable) check(c *checker) {
	c.newName(t.TableName)
	c.require("attributeDefinitions", t.AttrsSet)
	if c.require("keySchema", t.KeySet); t.KeySet {
		c.key("keySchema", t.Key, maxTableKey)
	}
	t.checkSettings(c)
	c.indexes("globalSecondaryIndexes", t.Global, maxIndexKey)
	c.indexes("localSecondaryIndexes", t.Local, maxTableKey)
	c.tags(t.Tags)
}

// UpdateTable changes a table's settings or its global indexes.
type UpdateTable struct {
	TableSettings
	Indexes []IndexUpdate
}

// An IndexUpdate is one change of a global index; one member is set.
type IndexUpdate struct {
	Create *Index
	Update *Index // name, throughput
	Delete Opt[string]
}

func (t *UpdateTable) field(r *jsonx.Reader, member string) {
	if member != "GlobalSecondaryIndexUpdates" {
		t.TableSettings.field(r, member)
		return
	}

	t.Indexes = list(r, maxIndexes, func(r *jsonx.Reader) (u IndexUpdate) {
		object(r, func(r *jsonx.Reader, member string) {
			switch member {
			case "Create":
				x := index(r)
				u.Create = &x
			case "Update":
				x := index(r)
				u.Update = &x
			case "Delete":
				x := index(r)
				u.Delete = Some(x.Name)
			default:
				r.Skip()
			}
		})
		return u
	})
}

func (t *UpdateTable) check(c *checker) {
	c.tableName("tableName", t.TableName)
	t.checkSettings(c)
	for i, u := range t.Indexes {
		at := fmt.Sprintf("globalSecondaryIndexUpdates.%d.member.", i+1)
		switch {
		case u.Create != nil:
			c.index(at+"create.", u.Create, maxIndexKey)
		case u.Update != nil:
			c.name(at+"update.indexName", u.Update.Name, minNameLength)
			c.throughput(at+"update.provisionedThroughput", u.Update.Throughput)
		case u.Delete.Set:
			c.name(at+"delete.indexName", u.Delete.Value, minNameLength)
		}
	}
}

// TableRequest is the request of an operation with only a table's name.
type TableRequest struct{ TableName Opt[string] }

func (t *TableRequest) field(r *jsonx.Reader, member string) {
	if member == "TableName" {
		t.TableName = name(r)
		return
	}
	r.Skip()
}

func (t *TableRequest) check(c *checker) { c.tableName("tableName", t.TableName) }

// The operations on a table as a whole.
type (
	DeleteTable               struct{ TableRequest }
	DescribeTable             struct{ TableRequest }
	DescribeTimeToLive        struct{ TableRequest }
	DescribeContinuousBackups struct{ TableRequest }
)

// ListTables lists the names of the tables.
type ListTables struct {
	Start Opt[string]
	Limit Opt[int64]
}

func (l *ListTables) field(r *jsonx.Reader, member string) {
	switch member {
	case "ExclusiveStartTableName":
		l.Start = text(r)
	case "Limit":
		l.Limit = integer(r)
	default:
		r.Skip()
	}
}

func (l *ListTables) check(c *checker) {
	if l.Start.Set {
		c.name("exclusiveStartTableName", l.Start.Value, minNameLength)
	}
	c.atLeast("limit", l.Limit, 1)
	c.atMost("limit", l.Limit, 100)
}

// UpdateTimeToLive switches the expiry of items on or off.
type UpdateTimeToLive struct {
	TableRequest
	Specified bool
	Attribute Opt[string]
	Enabled   Opt[bool]
}

func (u *UpdateTimeToLive) field(r *jsonx.Reader, member string) {
	if member != "TimeToLiveSpecification" {
		u.TableRequest.field(r, member)
		return
	}

	u.Specified = true
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "AttributeName":
			u.Attribute = name(r)
		case "Enabled":
			u.Enabled = boolean(r)
		default:
			r.Skip()
		}
	})
}

func (u *UpdateTimeToLive) check(c *checker) {
	u.TableRequest.check(c)
	if c.require("timeToLiveSpecification", u.Specified); !u.Specified {
		return
	}
	c.require("timeToLiveSpecification.enabled", u.Enabled.Set)
	if c.require("timeToLiveSpecification.attributeName", u.Attribute.Set); u.Attribute.Set {
		c.attributeName("timeToLiveSpecification.attributeName", u.Attribute.Value)
	}
}

// UpdateContinuousBackups switches point-in-time recovery on or off.
type UpdateContinuousBackups struct {
	TableRequest
	Specified bool
	Enabled   Opt[bool]
	Days      Opt[int64]
}

func (u *UpdateContinuousBackups) field(r *jsonx.Reader, member string) {
	if member != "PointInTimeRecoverySpecification" {
		u.TableRequest.field(r, member)
		return
	}

	u.Specified = true
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "PointInTimeRecoveryEnabled":
			u.Enabled = boolean(r)
		case "RecoveryPeriodInDays":
			u.Days = integer(r)
		default:
			r.Skip()
		}
	})
}

func (u *UpdateContinuousBackups) check(c *checker) {
	u.TableRequest.check(c)
	if c.require("pointInTimeRecoverySpecification", u.Specified); u.Specified {
		c.require("pointInTimeRecoverySpecification.pointInTimeRecoveryEnabled", u.Enabled.Set)
		c.atLeast("pointInTimeRecoverySpecification.recoveryPeriodInDays", u.Days, 1)
		c.atMost("pointInTimeRecoverySpecification.recoveryPeriodInDays", u.Days, 35)
	}
}

// TagRequest is the request of the three operations on tags.
type TagRequest struct {
	Resource Opt[string]
	Tags     []Tag
	TagsSet  bool
	Keys     []string
	KeysSet  bool
}

func (t *TagRequest) field(r *jsonx.Reader, member string) {
	switch member {
	case "ResourceArn":
		t.Resource = text(r)
	case "Tags":
		t.Tags, t.TagsSet = list(r, MaxTags, tag), true
	case "TagKeys":
		t.Keys, t.KeysSet = list(r, MaxTags, (*jsonx.Reader).String), true
	default:
		r.Skip()
	}
}

func (t *TagRequest) check(c *checker) { c.require("resourceArn", t.Resource.Set) }

// The operations on tags.
type (
	TagResource        struct{ TagRequest }
	UntagResource      struct{ TagRequest }
	ListTagsOfResource struct{ TagRequest }
)

func (t *TagResource) check(c *checker) {
	t.TagRequest.check(c)
	c.require("tags", t.TagsSet)
	c.tags(t.Tags)
}

func (t *UntagResource) check(c *checker) {
	t.TagRequest.check(c)
	c.require("tagKeys", t.KeysSet)
	for _, key := range t.Keys {
		c.tagKey(key, false)
	}
}

// Nothing is the request of an operation without parameters.
type Nothing struct{}

func (*Nothing) field(r *jsonx.Reader, _ string) { r.Skip() }
func (*Nothing) check(*checker)                  {}

// Table returns the name of the table that the request is about.
func (t *TableSettings) Table() string { return TableNameOf(t.TableName.Value) }

// Table returns the name of the table that the request is about.
func (t *TableRequest) Table() string { return TableNameOf(t.TableName.Value) }
