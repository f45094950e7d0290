// Package fault decides which requests are disturbed, and how: it matches
// requests, draws by chance, and notes what passed while a fault waited in vain.
//
//	set := fault.NewSet(tables)
//	err := set.Add(fault.Fault{Effect: fault.Effect{Kind: fault.LoseReply}, Op: "PutItem"})
//	passage := set.Transport(op, request)   // on the way: lost or late
//	reception := set.Server(op, targets)    // when it has arrived: answered, or refused in parts
//	idle := set.Heal()
//
// What an answer says is the server's to find: this package knows effects, not
// replies.
package fault
