package engine

import (
	"bufio"
	"io"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// A dump is a list of JSON objects, one a line:
//
//	{"Table":{…},"TimeToLive":"…"}     a table, as CreateTable takes it
//	{"Item":{…}}                       an item of the table last named
//	{"Item":{…},"Unindexed":true}      one that is older than an index, and does
//	                                   not suit its key
//
// Items stand in the order of their keys. A file of item lines alone is what
// DynamoDB's own exports in its JSON consist of.

// Dump writes the snapshot's tables and their items.
func (s *Snapshot) Dump(w io.Writer) error {
	out := bufio.NewWriter(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.state.sorted() {
		line := api.Writer{Buf: append(t.definition(), '\n')}
		for _, rec := range t.items.Ascend("") {
			if _, err := out.Write(line.Buf); err != nil {
				return err
			}
			line.Buf = line.Buf[:0]
			line.Element(func() {
				line.Item("Item", rec.item)
				if checkIndexes(t.indexes, rec.item) != nil {
					line.Bool("Unindexed", true)
				}
			})
			line.Buf = append(line.Buf, '\n')
		}
		if _, err := out.Write(line.Buf); err != nil {
			return err
		}
	}
	return out.Flush()
}

// definition returns the line of a table.
func (t *table) definition() []byte {
	var w api.Writer
	w.Element(func() {
		w.Object("Table", func() {
			t.define(&w)
			if t.stream.open() {
				t.defineStream(&w)
			}
		})
		if t.settings.ttl != "" {
			w.Text("TimeToLive", t.settings.ttl)
		}
		if t.settings.backups {
			w.Object("PointInTimeRecovery", func() { w.Int("RecoveryPeriodInDays", t.settings.backupDays) })
		}
	})
	return w.Buf
}

// define writes the request that CreateTable makes such a table of.
func (t *table) define(w *api.Writer) {
	s := &t.settings
	w.Text("TableName", t.name)
	t.key.Describe(w)
	w.Array("AttributeDefinitions", func() {
		for _, a := range s.attributes {
			w.Element(func() {
				w.Text("AttributeName", a.Name)
				w.Text("AttributeType", a.Type)
			})
		}
	})
	switch {
	case s.onDemand:
		w.Text("BillingMode", "PAY_PER_REQUEST")
	case s.billingSet: // it was on demand once
		w.Text("BillingMode", "PROVISIONED")
	}
	if !s.onDemand {
		defineThroughput(w, s.throughput)
	}
	t.defineIndexes(w, "LocalSecondaryIndexes", true)
	t.defineIndexes(w, "GlobalSecondaryIndexes", false)
	defineLimits(w, s.maximum, s.warm)
	if s.protected {
		w.Bool("DeletionProtectionEnabled", true)
	}
	if s.class != "" {
		w.Text("TableClass", s.class)
	}
	if s.encryption.Set {
		w.Object("SSESpecification", func() {
			w.Bool("Enabled", s.encryption.Value.Enabled.Value)
			if kind := s.encryption.Value.Type; kind.Set {
				w.Text("SSEType", kind.Value)
			}
			if key := s.encryption.Value.KeyID; key.Set {
				w.Text("KMSMasterKeyId", key.Value)
			}
		})
	}
	if len(t.tags) > 0 {
		w.Array("Tags", func() {
			for _, tag := range t.tags {
				w.Element(func() {
					w.Text("Key", tag.Key)
					w.Text("Value", tag.Value)
				})
			}
		})
	}
}

func (t *table) defineStream(w *api.Writer) {
	w.Object("StreamSpecification", func() {
		w.Bool("StreamEnabled", true)
		w.Text("StreamViewType", t.stream.view)
	})
}

func defineThroughput(w *api.Writer, t api.Throughput) {
	defineUnits(w, "ProvisionedThroughput", "ReadCapacityUnits", t.Read, "WriteCapacityUnits", t.Write)
}

func defineLimits(w *api.Writer, maximum api.Opt[api.OnDemand], warm api.Opt[api.Warm]) {
	if maximum.Set {
		defineUnits(w, "OnDemandThroughput", "MaxReadRequestUnits", maximum.Value.Read, "MaxWriteRequestUnits", maximum.Value.Write)
	}
	if warm.Set {
		defineUnits(w, "WarmThroughput", "ReadUnitsPerSecond", warm.Value.Read, "WriteUnitsPerSecond", warm.Value.Write)
	}
}

func defineUnits(w *api.Writer, member, readName string, read api.Opt[int64], writeName string, write api.Opt[int64]) {
	w.Object(member, func() {
		if read.Set {
			w.Int(readName, read.Value)
		}
		if write.Set {
			w.Int(writeName, write.Value)
		}
	})
}

func (t *table) defineIndexes(w *api.Writer, member string, local bool) {
	var kind []*index
	for _, x := range t.indexes {
		if x.local == local {
			kind = append(kind, x)
		}
	}
	if len(kind) == 0 {
		return
	}
	w.Array(member, func() {
		for _, x := range kind {
			w.Element(func() {
				w.Text("IndexName", x.name)
				x.key.Describe(w)
				x.describeProjection(w)
				if !local && !t.settings.onDemand {
					defineThroughput(w, x.throughput)
				}
				defineLimits(w, x.maximum, x.warm)
			})
		}
	})
}
