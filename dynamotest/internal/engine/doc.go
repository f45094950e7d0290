// Package engine is DynamoDB in memory: tables, indexes and the operations on
// them, from a request's JSON to the reply's.
//
//	e := engine.New(engine.Options{Now: clock})
//	res := e.Do(ctx, "PutItem", body)     // res.Body, res.Err, res.Cost
//
// Every operation passes through the same stages:
//
//	decode    package api: JSON, types, constraints
//	prepare   package bind: parse and bind expressions          (no lock so far)
//	locate    find the table, check the keys             (the lock for readers)
//	plan      with the latches of its items: read them, evaluate;
//	          nothing changes yet                                  (no lock)
//	commit    replace items and index entries, all or none        (the lock)
//	reply     encode, after the lock was released
//
// Plan and commit are the same for single writes, batches and transactions, so
// the code for indexes, capacity and other effects of a write exists once.
// Items are immutable and trees are copy-on-write, so data that was read under
// the lock may be used without it.
//
// The names and traits of operations are in one table, in package api; their
// handlers are in operations.go. Keys, latches, capacity units, throughput,
// streams, targets of requests, the definitions of tables and the data file have
// packages of their own. ARCHITECTURE.md has the order of the files.
//
// The time of a change is passed to commit. So streams, lags and the data file have
// the same time, and a change that is redone from the file takes effect at its
// original time.
//
// Locks are taken in the order latch, engine, throughput or journal.
//
// One RWMutex guards everything, and is never held while an expression is
// evaluated. So reads do not wait for reads, and a condition that takes long
// only holds up writers of the same items. Transactions need no other
// isolation.
package engine
