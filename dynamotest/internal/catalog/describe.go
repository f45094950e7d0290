package catalog

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// A State is what a description says besides the definition.
type State struct {
	Status  string
	Held    Held
	Indexes []Held  // in the order of the table's
	Stream  *Stream // the latest, nil when there was none
}

// Held is how much a table or an index holds.
type Held struct {
	Items int
	Bytes int64
}

// A Stream is what is described of a stream.
type Stream struct {
	Open             bool
	View, Label, ARN string
}

// Describe writes the members of a table's description.
func (t *Table) Describe(w *api.Writer, now *State) {
	w.Text("TableName", t.Name)
	w.Text("TableArn", t.ARN)
	w.Text("TableId", t.ID)
	w.Text("TableStatus", now.Status)
	w.Time("CreationDateTime", t.Created)
	w.Int("ItemCount", int64(now.Held.Items))
	w.Int("TableSizeBytes", now.Held.Bytes)
	t.writeKey(w)
	describeThroughput(w, t.Throughput)
	t.describeBilling(w)
	w.Bool("DeletionProtectionEnabled", t.Protected)
	if t.Class != "" {
		w.Object("TableClassSummary", func() { w.Text("TableClass", t.Class) })
	}
	t.describeEncryption(w)
	describeMaximum(w, t.Maximum)
	describeWarm(w, t.Warm)
	now.Stream.describe(w)
	t.describeIndexes(w, "LocalSecondaryIndexes", true, now.Indexes)
	t.describeIndexes(w, "GlobalSecondaryIndexes", false, now.Indexes)
}

// writeKey writes the key and the attributes of keys.
func (t *Table) writeKey(w *api.Writer) {
	t.Key.Describe(w)
	w.Array("AttributeDefinitions", func() {
		for _, a := range t.Attributes {
			w.Element(func() {
				w.Text("AttributeName", a.Name)
				w.Text("AttributeType", a.Type)
			})
		}
	})
}

func (t *Table) describeBilling(w *api.Writer) {
	switch {
	case t.OnDemand:
		w.Object("BillingModeSummary", func() {
			w.Text("BillingMode", onDemandMode)
			w.Time("LastUpdateToPayPerRequestDateTime", t.BilledSince)
		})
	case t.BillingSet:
		w.Object("BillingModeSummary", func() { w.Text("BillingMode", provisionedMode) })
	}
}

func (t *Table) describeEncryption(w *api.Writer) {
	if !t.Encryption.Set || !t.Encryption.Value.Enabled.Value {
		return
	}
	w.Object("SSEDescription", func() {
		w.Text("Status", "ENABLED")
		w.Text("SSEType", t.Encryption.Value.Type.Or("KMS"))
		if key := t.Encryption.Value.KeyID; key.Set {
			w.Text("KMSMasterKeyArn", key.Value)
		}
	})
}

func (s *Stream) describe(w *api.Writer) {
	if s == nil {
		return
	}
	if s.Open {
		writeStream(w, s.View)
	}
	w.Text("LatestStreamLabel", s.Label)
	w.Text("LatestStreamArn", s.ARN)
}

func writeStream(w *api.Writer, view string) {
	w.Object("StreamSpecification", func() {
		w.Bool("StreamEnabled", true)
		w.Text("StreamViewType", view)
	})
}

func (t *Table) describeIndexes(w *api.Writer, member string, local bool, held []Held) {
	t.eachIndex(w, member, local, func(i int) {
		x := &t.Indexes[i]
		w.Text("IndexName", x.Name)
		w.Text("IndexArn", x.ARN)
		x.writeKey(w)
		w.Int("ItemCount", int64(held[i].Items))
		w.Int("IndexSizeBytes", held[i].Bytes)
		if local {
			return
		}
		w.Text("IndexStatus", "ACTIVE")
		describeThroughput(w, x.Throughput)
		describeMaximum(w, x.Maximum)
		describeWarm(w, x.Warm)
	})
}

// eachIndex writes a member with an object for each index of a kind, if there are
// any.
func (t *Table) eachIndex(w *api.Writer, member string, local bool, members func(i int)) {
	found := false
	for i := range t.Indexes {
		if t.Indexes[i].Local != local {
			continue
		}
		if !found {
			found = true
			w.Key(member)
			w.Open('[')
		}
		w.Element(func() { members(i) })
	}
	if found {
		w.Close(']')
	}
}

// writeKey writes the key and what is projected besides.
func (x *Index) writeKey(w *api.Writer) {
	x.Key.Describe(w)
	w.Object("Projection", func() {
		w.Text("ProjectionType", x.Projection.Type.Value)
		if len(x.Projection.Include) > 0 {
			w.Array("NonKeyAttributes", func() {
				for _, name := range x.Projection.Include {
					w.String(name)
				}
			})
		}
	})
}

// describeThroughput writes the provisioned capacity, zero when it is on demand.
func describeThroughput(w *api.Writer, t api.Throughput) {
	w.Object("ProvisionedThroughput", func() {
		w.Int("NumberOfDecreasesToday", 0)
		w.Int("ReadCapacityUnits", t.Read.Value)
		w.Int("WriteCapacityUnits", t.Write.Value)
	})
}

func describeMaximum(w *api.Writer, o api.Opt[api.OnDemand]) {
	if o.Set {
		w.Object("OnDemandThroughput", func() { writeUnits(w, "MaxReadRequestUnits", o.Value.Read, "MaxWriteRequestUnits", o.Value.Write) })
	}
}

func describeWarm(w *api.Writer, o api.Opt[api.Warm]) {
	if o.Set {
		w.Object("WarmThroughput", func() {
			writeUnits(w, "ReadUnitsPerSecond", o.Value.Read, "WriteUnitsPerSecond", o.Value.Write)
			w.Text("Status", "ACTIVE")
		})
	}
}

// writeUnits writes the units that are set.
func writeUnits(w *api.Writer, readName string, read api.Opt[int64], writeName string, write api.Opt[int64]) {
	if read.Set {
		w.Int(readName, read.Value)
	}
	if write.Set {
		w.Int(writeName, write.Value)
	}
}
