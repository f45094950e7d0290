package stacktest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Change is a table's properties after one of them was changed
// ("KeySchema[].KeyType"), left out ("-KeySchema[]"), or added
// ("+TimeToLiveSpecification").
type Change struct {
	Where      string
	Properties map[string]any
}

// Changes returns each change of each property, found by walking the JSON.
func Changes(properties map[string]any) []Change {
	var all []Change
	// add edits the value at the path, or leaves it out if edit is nil.
	add := func(mark string, path []any, edit func(at any) any) {
		where := mark
		for _, step := range path {
			if name, ok := step.(string); ok {
				where += "." + name
			} else {
				where += "[]"
			}
		}

		where = strings.Replace(where, ".", "", 1)
		changed := edited(properties, path, edit).(map[string]any)
		if !strings.Contains(where, "AttributeDefinitions") {
			defineAsUsed(changed)
		}

		all = append(all, Change{where, changed})
	}

	var walk func(path []any, at any)
	walk = func(path []any, at any) {
		step := func(s any) []any { return append(slices.Clone(path), s) }
		switch at := at.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(at)) {
				add("-", step(name), nil)
				walk(step(name), at[name])
			}
		case []any:
			for i := range at {
				add("-", step(i), nil)
				walk(step(i), at[i])
			}
		case bool:
			add("", path, func(any) any { return !at })
		case string:
			for _, other := range others(at) {
				add("", path, func(any) any { return other })
			}
		}
	}

	walk(nil, properties)
	for name, value := range map[string]any{
		"TimeToLiveSpecification": map[string]any{"AttributeName": "expires", "Enabled": true},
		"SSESpecification":        map[string]any{"SSEEnabled": true},
	} {
		if properties[name] == nil {
			add("+", []any{name}, func(any) any { return value })
		}
	}

	another := map[string]any{
		"IndexName": "by-hand", "Projection": map[string]any{"ProjectionType": "ALL"},
		"KeySchema": []any{properties["KeySchema"].([]any)[0]},
	}

	add("+", []any{"GlobalSecondaryIndexes"}, func(at any) any {
		indexes, _ := at.([]any)
		return append(slices.Clone(indexes), another)
	})
	return all
}

// defineAsUsed makes the definitions of attributes fit the keys of a changed table,
// because DynamoDB accepts no others. A name that the change made has no definition yet,
// and becomes a string.
func defineAsUsed(properties map[string]any) {
	kinds, used := map[any]any{}, map[any]bool{}
	for _, d := range properties["AttributeDefinitions"].([]any) {
		d := d.(map[string]any)
		kinds[d["AttributeName"]] = d["AttributeType"]
	}

	holders := []any{properties}
	if indexes, ok := properties["GlobalSecondaryIndexes"].([]any); ok {
		holders = append(holders, indexes...)
	}

	definitions := []any{}
	for _, holder := range holders {
		key, _ := holder.(map[string]any)["KeySchema"].([]any)
		for _, element := range key {
			name, ok := element.(map[string]any)["AttributeName"]
			if !ok || used[name] { // no name if the change left it out
				continue
			}
			used[name] = true
			definitions = append(definitions, map[string]any{"AttributeName": name, "AttributeType": cmp.Or(kinds[name], any("S"))})
		}
	}

	properties["AttributeDefinitions"] = definitions
}

// others returns the values that a property may have instead.
func others(value string) []string {
	for _, enum := range [][]string{{"S", "N", "B"}, {"HASH", "RANGE"}, {"ALL", "KEYS_ONLY"}, {"PAY_PER_REQUEST", "PROVISIONED"}, {"KMS", "AES256"}} {
		if slices.Contains(enum, value) {
			return slices.DeleteFunc(enum, func(v string) bool { return v == value })
		}
	}
	return []string{value + "-by-hand"}
}

// edited returns a copy of the value, with the part at the path edited, or left out
// if edit is nil.
func edited(value any, path []any, edit func(any) any) any {
	if len(path) == 0 {
		return edit(value)
	}

	leave := len(path) == 1 && edit == nil
	switch value := value.(type) {
	case map[string]any:
		name, with := path[0].(string), maps.Clone(value)
		if leave {
			delete(with, name)
		} else {
			with[name] = edited(with[name], path[1:], edit)
		}
		return with
	case []any:
		at, with := path[0].(int), slices.Clone(value)
		if leave {
			return slices.Delete(with, at, at+1)
		}
		with[at] = edited(with[at], path[1:], edit)
		return with
	}

	return nil
}
