package engine

import (
	"fmt"
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

func (e *Engine) createTable(call *Call, req *api.CreateTable) (reply, *api.Error) {
	def, err := catalog.Create(req, e.tableARN(req.TableName.Value))
	if err != nil {
		return nil, err
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tables[def.Name] != nil {
		return nil, &api.Error{Code: api.ResourceInUse, Message: "Table already exists: " + def.Name}
	}

	e.serial++
	t := newTable(def.Made(tableID(e.serial), e.at(call)))
	e.place(t)
	e.changeStream(t, req.Stream, t.def.Created)
	e.logRequest(call, t.def.Created)

	return e.description("TableDescription", t, "ACTIVE"), nil
}

// place puts a new table under its name.
func (e *Engine) place(t *table) {
	e.tables[t.name] = t
	e.throughput.ForgetTable(t.name)
}

func tableID(serial int64) string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", serial, serial)
}

func (e *Engine) deleteTable(call *Call, req *api.DeleteTable) (reply, *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.wholeTable(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	if t.def.Protected {
		return nil, api.Invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}

	delete(e.tables, t.name)
	now := e.at(call)
	t.stream.Close(now)
	e.logRequest(call, now)

	return e.description("TableDescription", t, catalog.Deleting), nil
}

func (e *Engine) describeTable(call *Call, req *api.DescribeTable) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.wholeTable(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	return e.description("Table", t, "ACTIVE"), nil
}

// listed is the most names in one reply.
const listed = 100

func (e *Engine) listTables(call *Call, req *api.ListTables) (reply, *api.Error) {
	e.mu.RLock()
	names := e.names()
	e.mu.RUnlock()

	if start := req.Start; start.Set {
		i, found := slices.BinarySearch(names, start.Value)
		if found {
			i++
		}
		names = names[i:]
	}

	most := int(req.Limit.Or(listed))
	return func(w *api.Writer) {
		w.Array("TableNames", func() {
			for _, name := range names[:min(most, len(names))] {
				w.String(name)
			}
		})
		if len(names) > most {
			w.Text("LastEvaluatedTableName", names[most-1])
		}
	}, nil
}
