// Package cookbook has the code of recipes that docs/cookbook.md lists: a file for each,
// to be copied and changed. The recipes do not use each other.
//
// What a recipe promises is tested beside it, on a DynamoDB inside the process that
// loses replies, while workers crash and events are delivered twice.
package cookbook
