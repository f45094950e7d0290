package api

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// DuplicateItem is the code of an INSERT of an existing item.
const DuplicateItem = "DuplicateItemException"

// The limits of PartiQL requests.
const (
	maxStatement       = 8192 // bytes
	maxParameters      = maxStatement
	maxNextToken       = 32768
	maxBatchStatements = 25
)

// A Statement is a PartiQL statement with its parameters, alone or as an entry
// of a batch or a transaction.
type Statement struct {
	Text            Opt[string]
	Parameters      []attr.Value
	ParametersSet   bool
	ParametersErr   error // the error of the first invalid parameter
	ConsistentRead  bool
	ReturnOnFailure Opt[string]
}

func (s *Statement) field(r *jsonx.Reader, member string) {
	switch member {
	case "Statement":
		s.Text = text(r)
	case "Parameters":
		s.ParametersSet = true
		s.Parameters = list(r, maxParameters, func(r *jsonx.Reader) attr.Value {
			v, err := attr.Decode(r)
			if s.ParametersErr == nil {
				s.ParametersErr = attr.AsOlder(err)
			}
			return v
		})
	case "ConsistentRead":
		s.ConsistentRead = r.Bool()
	case "ReturnValuesOnConditionCheckFailure":
		s.ReturnOnFailure = name(r)
	default:
		r.Skip()
	}
}

func (s *Statement) check(c *checker, at string) {
	if c.require(at+"statement", s.Text.Set); s.Text.Set {
		c.length(at+"statement", s.Text.Value, len(s.Text.Value), 1, maxStatement)
	}
	if s.ParametersSet && len(s.Parameters) == 0 {
		c.length(at+"parameters", "[]", 0, 1, 0)
	}
	c.returnValuesOnFailure(at+"returnValuesOnConditionCheckFailure", s.ReturnOnFailure)
}

// appendTo appends to b what identifies the statement.
func (s *Statement) appendTo(b []byte) []byte {
	b = strconv.AppendQuote(b, s.Text.Value)
	for _, v := range s.Parameters {
		b = v.AppendJSON(b)
	}
	return b
}

// Fingerprint is the same for two equal statements with equal parameters.
func (s *Statement) Fingerprint() Fingerprint { return sha256.Sum256(s.appendTo(nil)) }

// ExecuteStatement performs one PartiQL statement.
type ExecuteStatement struct {
	Statement
	Limit          Opt[int64]
	NextToken      Opt[string]
	ReturnCapacity Opt[string]
}

func (e *ExecuteStatement) field(r *jsonx.Reader, member string) {
	switch member {
	case "Limit":
		e.Limit = integer(r)
	case "NextToken":
		e.NextToken = text(r)
	case "ReturnConsumedCapacity":
		e.ReturnCapacity = name(r)
	default:
		e.Statement.field(r, member)
	}
}

func (e *ExecuteStatement) check(c *checker) {
	e.Statement.check(c, "")
	c.atLeast("limit", e.Limit, 1)
	if e.NextToken.Set {
		c.length("nextToken", e.NextToken.Value, len(e.NextToken.Value), 1, maxNextToken)
	}
	c.returnConsumedCapacity(e.ReturnCapacity)
}

// BatchExecuteStatement performs PartiQL statements, each independently of the
// others.
type BatchExecuteStatement struct {
	Statements     []Statement
	Set            bool
	ReturnCapacity Opt[string]
}

func (b *BatchExecuteStatement) field(r *jsonx.Reader, member string) {
	switch member {
	case "Statements":
		b.Statements, b.Set = list(r, maxBatchStatements, statement), true
	case "ReturnConsumedCapacity":
		b.ReturnCapacity = name(r)
	default:
		r.Skip()
	}
}

func statement(r *jsonx.Reader) Statement {
	var s Statement
	object(r, s.field)
	return s
}

func (b *BatchExecuteStatement) check(c *checker) {
	c.statements("statements", "BatchStatementRequest", b.Statements, b.Set, maxBatchStatements)
	c.returnConsumedCapacity(b.ReturnCapacity)
}

func (c *checker) statements(member, element string, list []Statement, set bool, most int) {
	if c.require(member, set); !set {
		return
	}
	c.count(member, element, len(list), most)
	for i := range list[:min(len(list), most)] {
		list[i].check(c, fmt.Sprintf("%s.%d.member.", member, i+1))
	}
}

// ExecuteTransaction performs PartiQL statements together or not at all.
type ExecuteTransaction struct {
	Statements     []Statement
	Set            bool
	Token          Opt[string]
	ReturnCapacity Opt[string]
}

func (t *ExecuteTransaction) field(r *jsonx.Reader, member string) {
	switch member {
	case "TransactStatements":
		t.Statements, t.Set = list(r, MaxTransact, statement), true
	case "ClientRequestToken":
		t.Token = text(r)
	case "ReturnConsumedCapacity":
		t.ReturnCapacity = name(r)
	default:
		r.Skip()
	}
}

func (t *ExecuteTransaction) check(c *checker) {
	c.statements("transactStatements", "ParameterizedStatement", t.Statements, t.Set, MaxTransact)
	if t.Token.Set {
		c.length("clientRequestToken", t.Token.Value, len(t.Token.Value), 1, maxTokenLength)
	}
	c.returnConsumedCapacity(t.ReturnCapacity)
}

// Fingerprint is the same for two equal transactions.
func (t *ExecuteTransaction) Fingerprint() Fingerprint {
	b := []byte("PartiQL")
	for i := range t.Statements {
		b = t.Statements[i].appendTo(b)
		b = strconv.AppendQuote(b, t.Statements[i].ReturnOnFailure.Value)
	}
	return sha256.Sum256(b)
}

// ClientToken returns the token that makes the transaction idempotent.
func (t *ExecuteTransaction) ClientToken() Opt[string] { return t.Token }

// ClientToken returns the token that makes the transaction idempotent.
func (t *TransactWriteItems) ClientToken() Opt[string] { return t.Token }
