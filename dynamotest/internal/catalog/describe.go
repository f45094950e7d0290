package catalog

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// A State is the part of a description that is not in the definition.
type State struct {
	Status  string
	Held    Held
	Indexes []Held  // in the order of the table's indexes
	Stream  *Stream // the latest; nil if the table never had one
}

// Held is the size of a table or an index.
type Held struct {
	Items int
	Bytes int64
}

// A Stream is the description of a stream.
type Stream struct {
	Open             bool
	View, Label, ARN string
}

// Deleting is the status of a table that is being deleted. Its description has
// fewer members.
const Deleting = "DELETING"

// Describe writes the members of a table's description.
func (t *Table) Describe(w *api.Writer, now *State) {
	whole := now.Status != Deleting
	w.Text("TableName", t.Name)
	w.Text("TableArn", t.ARN)
	w.Text("TableId", t.ID)
	w.Text("TableStatus", now.Status)

	if whole {
		w.Time("CreationDateTime", t.Created)
	}

	w.Int("ItemCount", int64(now.Held.Items))
	w.Int("TableSizeBytes", now.Held.Bytes)
	if whole {
		t.writeKey(w)
	}

	describeThroughput(w, t.Throughput)
	t.describeBilling(w)
	w.Bool("DeletionProtectionEnabled", t.Protected)

	if t.Class != "" {
		w.Object("TableClassSummary", func() { w.Text("TableClass", t.Class) })
	}

	t.describeEncryption(w)
	describeMaximum(w, t.Maximum)
	t.describeWarm(w, t.Warm, t.Throughput)
	now.Stream.describe(w)
	if !whole {
		return
	}

	t.describeIndexes(w, "LocalSecondaryIndexes", true, now.Indexes)
	t.describeIndexes(w, "GlobalSecondaryIndexes", false, now.Indexes)
}

// writeKey writes the key, and the attributes of all keys.
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
		kind := t.Encryption.Value.Type.Or("KMS")
		w.Text("SSEType", kind)
		if kind == "KMS" {
			w.Text("KMSMasterKeyArn", t.keyARN(t.Encryption.Value.KeyID.Or("alias/aws/dynamodb")))
		}
	})
}

// keyARN returns the ARN of the key of an id, an alias or an ARN. The id of a key
// is derived from its alias, because no KMS exists here.
func (t *Table) keyARN(name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	if strings.HasPrefix(name, "alias/") {
		sum := sha256.Sum256([]byte(name))
		name = fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	}
	// The table's own ARN has the region and the account.
	parts := strings.SplitN(t.ARN, ":", 6)
	return "arn:aws:kms:" + parts[3] + ":" + parts[4] + ":key/" + name
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
		t.describeWarm(w, x.Warm, x.Throughput)
	})
}

// eachIndex writes a member with an object for each index of a kind, if the table
// has any.
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

// writeKey writes the key and the projection.
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

// describeThroughput writes the provisioned capacity, which is zero on demand.
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

// What a new table or index on demand can serve at once, in units a second.
const (
	warmReads  = 12000
	warmWrites = 4000
)

// describeWarm writes what a table or an index can serve at once: the warm
// throughput that was asked for, or else the provisioned throughput, or else that
// of a new one on demand.
func (t *Table) describeWarm(w *api.Writer, asked api.Opt[api.Warm], provisioned api.Throughput) {
	read, write := provisioned.Read.Value, provisioned.Write.Value
	if t.OnDemand {
		read, write = warmReads, warmWrites
	}
	w.Object("WarmThroughput", func() {
		w.Int("ReadUnitsPerSecond", asked.Value.Read.Or(read))
		w.Int("WriteUnitsPerSecond", asked.Value.Write.Or(write))
		w.Text("Status", "ACTIVE")
	})
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
