package dynamotest

// Heat is the load on one partition of a table or of a global index. Each value
// of the partition key counts as one partition. Where the load requires it,
// DynamoDB splits its partitions down to one value each. If the table or index
// has no sort key, DynamoDB cannot split them further. A page of a Scan counts
// in every partition that it reads: each partition is charged for its share of
// the page's bytes. The page is refused if one of these partitions has no units
// left.
type Heat struct {
	Table, Index string // Index is "" for the table itself
	Partition    string // the value of the key; a comma joins the values of several attributes
	Units               // that the partition consumed in all
	Peak         Units  // the most that it consumed in one second of the server's clock; it may exceed [Config].PartitionLimits
	Throttled    int    // requests, and entries of batches and transactions, that PartitionLimits refused
}

// Heat returns the load on all partitions that had requests. The most throttled
// comes first; of equally throttled ones, the one that consumed most. The load
// counts from when the table was made, restored, or read by [OpenServer]. A deleted
// table stays in the list, so that a test can look back on it, until a table of the
// same name is made. The new table begins without load, and each of its partitions
// can take one second's worth of units at once. The same holds for an index. The
// list is empty unless the [Config] sets PartitionLimits or ProvisionedLimits.
// Throttled does not count the requests that only ProvisionedLimits or a [Fault]
// refuses.
func (s *Server) Heat() []Heat {
	var out []Heat
	for _, load := range s.engine.Loads() {
		out = append(out, Heat{
			Table: load.Table, Index: load.Index, Partition: load.Partition, Throttled: load.Throttled,
			Units: Units{RCU: load.Consumed.Read, WCU: load.Consumed.Write},
			Peak:  Units{RCU: load.Peak.Read, WCU: load.Peak.Write},
		})
	}
	return out
}
