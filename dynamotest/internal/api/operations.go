package api

import "slices"

// An Operation is one row of the table of operations: all that the engine, the
// wire, the faults and the meters have to know about it. A new operation is one
// row here and one handler in the engine.
type Operation struct {
	Name   string
	New    func() Request // an empty request
	traits Trait
}

// A Trait is something that is true of some operations.
type Trait uint16

// The traits of operations.
const (
	// Consumes capacity units.
	Consumes Trait = 1 << iota
	// Reads items and writes none, so that it consumes read units.
	Reads
	// Writes items and returns none that it did not write.
	Writes
	// Batch: entries of it may come back unprocessed.
	Batch
	// Transaction: it is cancelled, with a reason for each item, instead of refused.
	Transaction
	// Statements: it is PartiQL, and only its text says whether it reads or writes.
	Statements
	// ReadsIndex: it may read an index.
	ReadsIndex
	// Conflicts with a transaction that is under way.
	Conflicts
	// Streams: it belongs to DynamoDB Streams, another service at the same address.
	Streams
	// ChangesTable: it changes a table as a whole, and the journal keeps its request.
	ChangesTable
	// NamesNoTable in its request.
	NamesNoTable
	// NamesNoItem, although it consumes capacity.
	NamesNoItem
)

// Has reports whether the operation has all of some traits. No operation, which
// is nil, has none.
func (o *Operation) Has(traits Trait) bool { return o != nil && o.traits&traits == traits }

// NamesItems reports whether requests name items by their keys.
func (o *Operation) NamesItems() bool { return o.Has(Consumes) && !o.Has(NamesNoItem) }

var operations = []Operation{
	{"BatchExecuteStatement", fresh[BatchExecuteStatement], Consumes | Batch | Statements | Conflicts},
	{"BatchGetItem", fresh[BatchGetItem], Consumes | Reads | Batch},
	{"BatchWriteItem", fresh[BatchWriteItem], Consumes | Writes | Batch},
	{"CreateTable", fresh[CreateTable], ChangesTable},
	{"DeleteItem", fresh[DeleteItem], Consumes | Writes | Conflicts},
	{"DeleteTable", fresh[DeleteTable], ChangesTable},
	{"DescribeContinuousBackups", fresh[DescribeContinuousBackups], 0},
	{"DescribeEndpoints", fresh[Nothing], NamesNoTable},
	{"DescribeLimits", fresh[Nothing], NamesNoTable},
	{"DescribeStream", fresh[DescribeStream], Streams},
	{"DescribeTable", fresh[DescribeTable], 0},
	{"DescribeTimeToLive", fresh[DescribeTimeToLive], 0},
	{"ExecuteStatement", fresh[ExecuteStatement], Consumes | Statements | ReadsIndex | Conflicts},
	{"ExecuteTransaction", fresh[ExecuteTransaction], Consumes | Transaction | Statements | Conflicts},
	{"GetItem", fresh[GetItem], Consumes | Reads},
	{"GetRecords", fresh[GetRecords], Streams},
	{"GetShardIterator", fresh[GetShardIterator], Streams},
	{"ListStreams", fresh[ListStreams], Streams},
	{"ListTables", fresh[ListTables], NamesNoTable},
	{"ListTagsOfResource", fresh[ListTagsOfResource], 0},
	{"PutItem", fresh[PutItem], Consumes | Writes | Conflicts},
	{"Query", fresh[Query], Consumes | Reads | NamesNoItem | ReadsIndex},
	{"Scan", fresh[Scan], Consumes | Reads | NamesNoItem | ReadsIndex},
	{"TagResource", fresh[TagResource], ChangesTable},
	{"TransactGetItems", fresh[TransactGetItems], Consumes | Reads | Transaction | Conflicts},
	{"TransactWriteItems", fresh[TransactWriteItems], Consumes | Writes | Transaction | Conflicts},
	{"UntagResource", fresh[UntagResource], ChangesTable},
	{"UpdateContinuousBackups", fresh[UpdateContinuousBackups], ChangesTable},
	{"UpdateItem", fresh[UpdateItem], Consumes | Writes | Conflicts},
	{"UpdateTable", fresh[UpdateTable], ChangesTable},
	{"UpdateTimeToLive", fresh[UpdateTimeToLive], ChangesTable},
}

func fresh[R any, P interface {
	*R
	Request
}]() Request {
	return P(new(R))
}

var byName = func() map[string]*Operation {
	all := make(map[string]*Operation, len(operations))
	for i := range operations {
		all[operations[i].Name] = &operations[i]
	}
	return all
}()

// OperationNamed returns an operation, or nil if the name is not that of one.
func OperationNamed(name string) *Operation { return byName[name] }

// Operations lists the names of the operations that have some traits, sorted.
func Operations(traits Trait) []string {
	var names []string
	for i := range operations {
		if o := &operations[i]; o.Has(traits) {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return names
}
