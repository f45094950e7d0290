package engine

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// description returns a reply with one member, the description of a table. It
// is written at once: the table is guarded by the engine's mutex.
func (e *Engine) description(member string, t *table, status string) reply {
	var w api.Writer
	w.Open('{')
	t.describe(&w, status)
	w.Close('}')
	return writeFunc(func(out *api.Writer) {
		out.Key(member)
		out.Buf = append(out.Buf, w.Buf...)
	})
}

func (t *table) describe(w *api.Writer, status string) {
	s := &t.settings
	w.Text("TableName", t.name)
	w.Text("TableArn", t.arn)
	w.Text("TableId", t.id)
	w.Text("TableStatus", status)
	w.Time("CreationDateTime", t.created)
	w.Int("ItemCount", int64(t.items.Len()))
	w.Int("TableSizeBytes", t.items.bytes)
	t.key.Describe(w)
	w.Array("AttributeDefinitions", func() {
		for _, a := range s.attributes {
			w.Element(func() {
				w.Text("AttributeName", a.Name)
				w.Text("AttributeType", a.Type)
			})
		}
	})
	describeThroughput(w, s.throughput)
	s.describeBilling(w)
	w.Bool("DeletionProtectionEnabled", s.protected)
	if s.class != "" {
		w.Object("TableClassSummary", func() { w.Text("TableClass", s.class) })
	}
	if s.encryption.Set && s.encryption.Value.Enabled.Value {
		w.Object("SSEDescription", func() {
			w.Text("Status", "ENABLED")
			w.Text("SSEType", s.encryption.Value.Type.Or("KMS"))
			if key := s.encryption.Value.KeyID; key.Set {
				w.Text("KMSMasterKeyArn", key.Value)
			}
		})
	}
	describeMaximum(w, s.maximum)
	describeWarm(w, s.warm, func() { w.Text("Status", "ACTIVE") })
	t.describeStream(w)
	t.describeIndexes(w, "LocalSecondaryIndexes", true)
	t.describeIndexes(w, "GlobalSecondaryIndexes", false)
}

func (s *settings) describeBilling(w *api.Writer) {
	switch {
	case s.onDemand:
		w.Object("BillingModeSummary", func() {
			w.Text("BillingMode", "PAY_PER_REQUEST")
			w.Time("LastUpdateToPayPerRequestDateTime", s.billedSince)
		})
	case s.billingSet:
		w.Object("BillingModeSummary", func() { w.Text("BillingMode", "PROVISIONED") })
	}
}

func (t *table) describeIndexes(w *api.Writer, member string, local bool) {
	found := false
	for _, x := range t.indexes {
		if x.local != local {
			continue
		}
		if !found {
			found = true
			w.Key(member)
			w.Open('[')
		}
		w.Element(func() { x.describe(w) })
	}
	if found {
		w.Close(']')
	}
}

func (x *index) describe(w *api.Writer) {
	w.Text("IndexName", x.name)
	w.Text("IndexArn", x.arn)
	x.key.Describe(w)
	x.describeProjection(w)
	w.Int("ItemCount", int64(x.items.Len()))
	w.Int("IndexSizeBytes", x.items.bytes)
	if x.local {
		return
	}
	w.Text("IndexStatus", "ACTIVE")
	describeThroughput(w, x.throughput)
	describeMaximum(w, x.maximum)
	describeWarm(w, x.warm, func() { w.Text("Status", "ACTIVE") })
}

func (x *index) describeProjection(w *api.Writer) {
	w.Object("Projection", func() {
		w.Text("ProjectionType", x.projection.Type.Value)
		if len(x.include) > 0 {
			w.Array("NonKeyAttributes", func() {
				for _, name := range x.include {
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
		describeUnits(w, "OnDemandThroughput", "MaxReadRequestUnits", o.Value.Read, "MaxWriteRequestUnits", o.Value.Write)
	}
}

func describeWarm(w *api.Writer, o api.Opt[api.Warm], more ...func()) {
	if o.Set {
		describeUnits(w, "WarmThroughput", "ReadUnitsPerSecond", o.Value.Read, "WriteUnitsPerSecond", o.Value.Write, more...)
	}
}

// describeUnits writes an object with the units that are set, and what else
// belongs into it.
func describeUnits(w *api.Writer, member, readName string, read api.Opt[int64], writeName string, write api.Opt[int64], more ...func()) {
	w.Object(member, func() {
		if read.Set {
			w.Int(readName, read.Value)
		}
		if write.Set {
			w.Int(writeName, write.Value)
		}
		for _, write := range more {
			write()
		}
	})
}

func (e *Engine) describeTimeToLive(call *Call, req *api.DescribeTimeToLive) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.wholeTable(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	attribute := t.settings.ttl
	return writeFunc(func(w *api.Writer) {
		w.Object("TimeToLiveDescription", func() {
			if attribute == "" {
				w.Text("TimeToLiveStatus", "DISABLED")
				return
			}
			w.Text("TimeToLiveStatus", "ENABLED")
			w.Text("AttributeName", attribute)
		})
	}), nil
}

func (e *Engine) updateTimeToLive(call *Call, req *api.UpdateTimeToLive) (reply, *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.wholeTable(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	current, attribute := t.settings.ttl, req.Attribute.Value
	switch {
	case req.Enabled.Value && current == attribute:
		return nil, api.Invalid("TimeToLive is already enabled")
	case req.Enabled.Value && current != "":
		return nil, api.Invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", current)
	case !req.Enabled.Value && current == "":
		return nil, api.Invalid("TimeToLive is already disabled")
	case !req.Enabled.Value && current != attribute:
		return nil, api.Invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", current)
	case req.Enabled.Value:
		t.settings.ttl = attribute
	default:
		t.settings.ttl = ""
	}
	e.logRequest(call, e.at(call))
	return writeFunc(func(w *api.Writer) {
		w.Object("TimeToLiveSpecification", func() {
			w.Text("AttributeName", attribute)
			w.Bool("Enabled", req.Enabled.Value)
		})
	}), nil
}

func (e *Engine) describeContinuousBackups(call *Call, req *api.DescribeContinuousBackups) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.backedUp(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	return e.describeBackups(t.settings, e.at(call)), nil
}

func (e *Engine) updateContinuousBackups(call *Call, req *api.UpdateContinuousBackups) (reply, *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.backedUp(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	now := e.at(call)
	if s := &t.settings; req.Enabled.Value != s.backups {
		s.backups, s.backupsFrom = req.Enabled.Value, now
	}
	t.settings.backupDays = req.Days.Or(35)
	e.logRequest(call, now)
	return e.describeBackups(t.settings, now), nil
}

func (e *Engine) backedUp(name string) (*table, *api.Error) {
	name = api.TableNameOf(name)
	if t := e.tables[name]; t != nil {
		return t, nil
	}
	return nil, &api.Error{Code: api.TableNotFound, Message: "Table not found: " + name}
}

func (e *Engine) describeBackups(s settings, latest time.Time) reply {
	return writeFunc(func(w *api.Writer) {
		w.Object("ContinuousBackupsDescription", func() {
			w.Text("ContinuousBackupsStatus", "ENABLED")
			w.Object("PointInTimeRecoveryDescription", func() {
				if !s.backups {
					w.Text("PointInTimeRecoveryStatus", "DISABLED")
					return
				}
				w.Text("PointInTimeRecoveryStatus", "ENABLED")
				w.Int("RecoveryPeriodInDays", s.backupDays)
				w.Time("EarliestRestorableDateTime", later(s.backupsFrom, latest.AddDate(0, 0, -int(s.backupDays))))
				w.Time("LatestRestorableDateTime", latest)
			})
		})
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (e *Engine) describeLimits(*Call, *api.Nothing) (reply, *api.Error) {
	return writeFunc(func(w *api.Writer) {
		w.Int("AccountMaxReadCapacityUnits", 80000)
		w.Int("AccountMaxWriteCapacityUnits", 80000)
		w.Int("TableMaxReadCapacityUnits", 40000)
		w.Int("TableMaxWriteCapacityUnits", 40000)
	}), nil
}

func (e *Engine) describeEndpoints(*Call, *api.Nothing) (reply, *api.Error) {
	return writeFunc(func(w *api.Writer) {
		w.Array("Endpoints", func() {
			w.Element(func() {
				w.Text("Address", "dynamodb."+e.opt.Region+".amazonaws.com")
				w.Int("CachePeriodInMinutes", 1440)
			})
		})
	}), nil
}
