package api

import "slices"

// An Operation is one row of the table of operations: everything that the
// engine, the wire, the faults and the meters need. A new operation is one row
// here and one handler in the engine.
type Operation struct {
	Name   string
	New    func() Request // an empty request
	traits Trait
}

// A Trait is a property of some operations.
type Trait uint16

// The traits of operations.
const (
	// Consumes: it consumes capacity units.
	Consumes Trait = 1 << iota
	// Reads: it only reads items, so that it consumes read units.
	Reads
	// Writes: it writes items, and does not return other items.
	Writes
	// Batch: its entries may come back unprocessed.
	Batch
	// Transaction: it is cancelled, with a reason for each item, instead of refused.
	Transaction
	// Statements: it is PartiQL, so only its text says whether it reads or writes.
	Statements
	// ReadsIndex: it may read an index.
	ReadsIndex
	// Conflicts: it may conflict with a transaction that is under way.
	Conflicts
	// Streams: it belongs to DynamoDB Streams, another service at the same address.
	Streams
	// ChangesTable: it changes a table as a whole, and the journal keeps its request.
	ChangesTable
	// NamesNoTable: its request does not name a table.
	NamesNoTable
	// NamesNoItem: its request does not name an item, although it consumes
	// capacity.
	NamesNoItem
)

// Has reports whether the operation has all of the given traits. A nil
// operation does not have any.
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

// OperationNamed returns the operation of a name, or nil if it does not exist.
func OperationNamed(name string) *Operation { return byName[name] }

// Operations lists the names of the operations with the given traits, sorted.
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
