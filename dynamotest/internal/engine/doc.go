// Package engine is DynamoDB in memory: tables, indexes and the operations on
// them, from a request's JSON to the reply's.
//
//	e := engine.New(engine.Options{Now: clock})
//	res := e.Do(ctx, "PutItem", body)     // res.Body, res.Err, res.Cost
//
// An operation passes through the same stages, whatever it is:
//
//	decode    package api: JSON, types, constraints
//	prepare   package bind: parse and bind expressions          (no lock so far)
//	locate    find the table, check the keys             (for readers' lock)
//	plan      with the latches of its items: meet what is stored, evaluate;
//	          nothing changes yet                                  (no lock)
//	commit    replace items and index entries, all or none        (the lock)
//	reply     encode, after the lock was released
//
// Plan and commit are one path for single writes, batches and transactions, so
// indexes, capacity and whatever else follows from a write are attached once.
// Items are immutable and trees are copy-on-write, so what was read under the
// lock may be used without it.
//
// What an operation is called and how it is treated stands in one table, in package
// api; what carries it out stands in engine.go. Keys, latches, units, what requests
// are about, the definitions of tables and the data file have packages of their own.
//
// The time of a change is passed to commit: streams, lags and the data file say the
// same, and what is done again from the file takes effect when it did.
//
// Locks are taken in the order latch, engine, throughput or journal.
//
// One RWMutex guards everything, and is never held while an expression is
// evaluated: reads do not wait for reads, and a condition that takes long holds
// up none but the writers of the same items. A transaction needs no other
// isolation.
package engine
