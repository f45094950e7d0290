// Package fault decides which requests are disturbed, and how: it matches
// requests, draws by chance, and records what passed while a fault did not fire.
//
//	set := fault.NewSet(tables)
//	err := set.Add(fault.Fault{Effect: fault.Effect{Kind: fault.LoseReply}, Op: "PutItem"})
//	passage := set.Transport(op, request)   // on the way: lost or late
//	reception := set.Server(op, targets)    // when it has arrived: answered, or refused in parts
//	idle := set.Heal()
//
// The server words the replies: this package knows effects only.
package fault
