package catalog

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// Define writes a request that makes the same table, with a stream unless view
// is empty.
func (t *Table) Define(w *api.Writer, view string) {
	w.Text("TableName", t.Name)
	t.writeKey(w)
	switch {
	case t.OnDemand:
		w.Text("BillingMode", onDemandMode)
	case t.BillingSet: // it was once on demand
		w.Text("BillingMode", provisionedMode)
	}

	if !t.OnDemand {
		defineThroughput(w, t.Throughput)
	}

	t.defineIndexes(w, "LocalSecondaryIndexes", true)
	t.defineIndexes(w, "GlobalSecondaryIndexes", false)
	defineLimits(w, t.Maximum, t.Warm)

	if t.Protected {
		w.Bool("DeletionProtectionEnabled", true)
	}

	if t.Class != "" {
		w.Text("TableClass", t.Class)
	}

	t.defineEncryption(w)
	if len(t.Tags) > 0 {
		t.WriteTags(w)
	}

	if view != "" {
		writeStream(w, view)
	}
}

func (t *Table) defineEncryption(w *api.Writer) {
	if !t.Encryption.Set {
		return
	}
	w.Object("SSESpecification", func() {
		w.Bool("Enabled", t.Encryption.Value.Enabled.Value)
		if kind := t.Encryption.Value.Type; kind.Set {
			w.Text("SSEType", kind.Value)
		}
		if key := t.Encryption.Value.KeyID; key.Set {
			w.Text("KMSMasterKeyId", key.Value)
		}
	})
}

// WriteTags writes the tags, perhaps an empty list.
func (t *Table) WriteTags(w *api.Writer) {
	w.Array("Tags", func() {
		for _, tag := range t.Tags {
			w.Element(func() {
				w.Text("Key", tag.Key)
				w.Text("Value", tag.Value)
			})
		}
	})
}

func (t *Table) defineIndexes(w *api.Writer, member string, local bool) {
	t.eachIndex(w, member, local, func(i int) {
		x := &t.Indexes[i]
		w.Text("IndexName", x.Name)
		x.writeKey(w)
		if !local && !t.OnDemand {
			defineThroughput(w, x.Throughput)
		}
		defineLimits(w, x.Maximum, x.Warm)
	})
}

func defineThroughput(w *api.Writer, t api.Throughput) {
	w.Object("ProvisionedThroughput", func() { writeUnits(w, "ReadCapacityUnits", t.Read, "WriteCapacityUnits", t.Write) })
}

func defineLimits(w *api.Writer, maximum api.Opt[api.OnDemand], warm api.Opt[api.Warm]) {
	if maximum.Set {
		w.Object("OnDemandThroughput", func() {
			writeUnits(w, "MaxReadRequestUnits", maximum.Value.Read, "MaxWriteRequestUnits", maximum.Value.Write)
		})
	}
	if warm.Set {
		w.Object("WarmThroughput", func() {
			writeUnits(w, "ReadUnitsPerSecond", warm.Value.Read, "WriteUnitsPerSecond", warm.Value.Write)
		})
	}
}
