package terraform

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// parse reads a configuration as Terraform does, and returns its resources by their
// addresses, such as aws_iam_policy.checkout.
func parse(text []byte, variables map[string]cty.Value) (map[string]cty.Value, error) {
	parsed, diags := hcljson.Parse(text, "tables.tf.json")
	if diags.HasErrors() {
		return nil, diags
	}
	content, diags := parsed.Body.Content(file)
	if diags.HasErrors() {
		return nil, diags
	}
	ctx, resources := &hcl.EvalContext{Variables: variables}, map[string]cty.Value{}
	for _, block := range content.Blocks {
		spec := map[string]hcldec.ObjectSpec{"aws_dynamodb_table": table, "aws_iam_policy": policy}[block.Labels[0]]
		if spec == nil {
			return nil, fmt.Errorf("a resource %q", block.Labels[0])
		}
		own, rest, diags := hcldec.PartialDecode(block.Body, lifecycle, ctx)
		if diags.HasErrors() {
			return nil, diags
		}
		values, diags := hcldec.Decode(rest, spec, ctx)
		if diags.HasErrors() {
			return nil, diags
		}
		all := values.AsValueMap()
		all["lifecycle"] = own.GetAttr("lifecycle")
		if block.Labels[0] == "aws_dynamodb_table" {
			if err := judge(all); err != nil {
				return nil, err
			}
		}
		resources[strings.Join(block.Labels, ".")] = cty.ObjectVal(all)
	}
	return resources, nil
}

func text(v cty.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.AsString()
}

func list(v cty.Value) []cty.Value {
	if v.IsNull() {
		return nil
	}
	return v.AsValueSlice()
}

// on is an argument of a block that may be missing.
func on(block cty.Value, name string) bool {
	return !block.IsNull() && !block.GetAttr(name).IsNull() && block.GetAttr(name).True()
}

// judge checks what the page of the resource says in words.
func judge(of map[string]cty.Value) error {
	used := map[string]bool{text(of["hash_key"]): true}
	if name := text(of["range_key"]); name != "" {
		used[name] = true
	}
	for _, index := range list(of["global_secondary_index"]) {
		keys := list(index.GetAttr("key_schema"))
		if (len(keys) == 0) == index.GetAttr("hash_key").IsNull() || len(keys) > 0 && !index.GetAttr("range_key").IsNull() {
			return errors.New("an index has hash_key or key_schema")
		}
		kinds := ""
		for _, key := range keys {
			used[text(key.GetAttr("attribute_name"))] = true
			kinds += text(key.GetAttr("key_type")) + " "
		}
		if kinds != "HASH " && kinds != "HASH RANGE " {
			return fmt.Errorf("an index has the keys %s", kinds)
		}
	}
	for _, attribute := range list(of["attribute"]) {
		if name := text(attribute.GetAttr("name")); !used[name] {
			return fmt.Errorf("attribute %q is not used: planning would never end", name)
		}
		delete(used, text(attribute.GetAttr("name")))
	}
	if len(used) > 0 {
		return fmt.Errorf("no attribute %q", slices.Sorted(maps.Keys(used)))
	}
	if ttl := of["ttl"]; !ttl.IsNull() && on(ttl, "enabled") == ttl.GetAttr("attribute_name").IsNull() {
		return errors.New("ttl has a name if it is enabled")
	}
	return nil
}

// read makes a definition of a resource.
func read(of cty.Value) schema.Table {
	kinds := map[string]types.ScalarAttributeType{}
	for _, a := range list(of.GetAttr("attribute")) {
		kinds[text(a.GetAttr("name"))] = types.ScalarAttributeType(text(a.GetAttr("type")))
	}
	attribute := func(name string) schema.Attribute { return schema.Attribute{Name: name, Type: kinds[name]} }
	t := schema.Table{
		Name:                text(of.GetAttr("name")),
		Key:                 schema.Key{Partition: attribute(text(of.GetAttr("hash_key"))), Sort: attribute(text(of.GetAttr("range_key")))},
		PointInTimeRecovery: on(of.GetAttr("point_in_time_recovery"), "enabled"),
		DeletionProtection:  of.GetAttr("deletion_protection_enabled").True(),
		Retain:              on(of.GetAttr("lifecycle"), "prevent_destroy"),
	}
	if ttl := of.GetAttr("ttl"); on(ttl, "enabled") {
		t.TTL = text(ttl.GetAttr("attribute_name"))
	}
	if encryption := of.GetAttr("server_side_encryption"); on(encryption, "enabled") {
		if t.KMSKey = text(encryption.GetAttr("kms_key_arn")); t.KMSKey == "" {
			t.KMSKey = "alias/aws/dynamodb"
		}
	}
	for _, index := range list(of.GetAttr("global_secondary_index")) {
		keys := index.GetAttr("key_schema").AsValueSlice()
		i := schema.Index{Name: text(index.GetAttr("name")), Key: schema.Key{Partition: attribute(text(keys[0].GetAttr("attribute_name")))}}
		if len(keys) > 1 {
			i.Key.Sort = attribute(text(keys[1].GetAttr("attribute_name")))
		}
		t.Indexes = append(t.Indexes, i)
	}
	return t
}

// written returns the tables as a configuration.
func written(t *testing.T, tables ...schema.Table) []byte {
	t.Helper()
	resources, err := schema.Terraform(tables...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"resource": resources})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// same checks that Terraform reads each table as it is defined, on demand, and with
// indexes that project ALL.
func same(t *testing.T, tables ...schema.Table) {
	t.Helper()
	resources, err := parse(written(t, tables...), nil)
	if err != nil || len(resources) != len(tables) {
		t.Fatalf("%d resources, %v", len(resources), err)
	}
	for _, table := range tables {
		of := resources["aws_dynamodb_table."+schema.LogicalID(table.Name)]
		if diff := cmp.Diff(table, read(of)); diff != "" {
			t.Errorf("-defined +read:\n%s", diff)
		}
		if got := text(of.GetAttr("billing_mode")); got != "PAY_PER_REQUEST" {
			t.Errorf("%s is billed %s", table.Name, got)
		}
		for _, index := range list(of.GetAttr("global_secondary_index")) {
			if got := text(index.GetAttr("projection_type")); got != "ALL" {
				t.Errorf("an index of %s projects %s", table.Name, got)
			}
		}
	}
}

// stores are some of the library.
func stores(t *testing.T) []schema.Store {
	t.Helper()
	api := dynamodb.New(dynamodb.Options{})
	seen, err1 := ledger.New(api, "seen", nil)
	days, err2 := counter.New(api, "days", tzclock.UTC, nil)
	log, err3 := activity.New(api, "the-log", nil)
	raw, err4 := message.New(api, "raw.messages", &message.Config{ActorIndex: true})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return []schema.Store{seen, days, log, raw}
}

const arn = "arn:aws:kms:eu-north-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"

func TestTables(t *testing.T) {
	t.Parallel()
	var all []schema.Table
	for _, store := range stores(t) {
		all = append(all, store.Table())
	}
	same(t, all...)

	// Names of attributes have any characters of ASCII, but not ${ and %{.
	random := rand.New(rand.NewPCG(1, 1))
	name := func(i int) string {
		odd := fmt.Sprint(i)
		for range random.IntN(6) {
			odd += []string{"$", "%", "}", "$$", "%%", "$(", "~", `"`, `\`, "\n", "<&>", "if"}[random.IntN(12)]
		}
		return odd
	}
	for n := range 300 {
		attribute := func(i int) schema.Attribute {
			return schema.Attribute{Name: name(i), Type: []types.ScalarAttributeType{"S", "N", "B"}[random.IntN(3)]}
		}
		key := func(i int) schema.Key {
			k := schema.Key{Partition: attribute(i)}
			if random.IntN(2) == 0 {
				k.Sort = attribute(i + 1)
			}
			return k
		}
		bit := func(i int) bool { return n>>i&1 == 1 } // all combinations
		table := schema.Table{
			Name: "odd_" + fmt.Sprint(n), Key: key(0),
			PointInTimeRecovery: bit(0), DeletionProtection: bit(1), Retain: bit(2),
			KMSKey: []string{"", "alias/aws/dynamodb", arn}[n%3],
		}
		if bit(3) {
			table.TTL = name(100)
		}
		for i := range random.IntN(4) {
			table.Indexes = append(table.Indexes, schema.Index{Name: fmt.Sprint("by-", i), Key: key(10 * (i + 1))})
		}
		same(t, table)
	}
}

// An argument that the provider does not have is refused wherever it stands; so is the
// lack of one that it must have, and a value of another type.
func TestTheSpecRefuses(t *testing.T) {
	t.Parallel()
	full := stores(t)[2].Table()
	full.TTL, full.KMSKey, full.PointInTimeRecovery = "ttl", arn, true
	resources, err := schema.Terraform(full)
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]int{}
	try := func(what, where string) {
		text, err := json.Marshal(map[string]any{"resource": resources})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(text, nil); err == nil {
			t.Errorf("%s %s is accepted", what, where)
		}
		refused[what]++
	}
	optional := []string{"billing_mode", "lifecycle", "prevent_destroy", "deletion_protection_enabled", "point_in_time_recovery", "server_side_encryption", "kms_key_arn", "global_secondary_index", "ttl"}
	var walk func(where string, at any)
	walk = func(where string, at any) {
		switch at := at.(type) {
		case []any:
			for i := range at {
				walk(fmt.Sprint(where, "[", i, "]"), at[i])
			}
		case map[string]any:
			at["an_argument"] = "x"
			try("the unknown argument of", where)
			delete(at, "an_argument")
			for _, name := range slices.Sorted(maps.Keys(at)) {
				value := at[name]
				if delete(at, name); !slices.Contains(optional, name) {
					try("the lack of", where+"."+name)
				}
				if _, nested := value.(string); !nested {
					at[name] = "x"
					try("a text as", where+"."+name)
				}
				at[name] = value
				walk(where+"."+name, value)
			}
		}
	}
	tables := resources["aws_dynamodb_table"].(map[string]any)
	walk("table", tables[schema.LogicalID(full.Name)])
	if refused["the unknown argument of"] < 15 || refused["the lack of"] < 20 || refused["a text as"] < 8 {
		t.Errorf("tried: %v", refused)
	}
	if _, err := parse(written(t, full), nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A policy that refers to the tables' resources is the one with plain ARNs.
func TestPolicies(t *testing.T) {
	t.Parallel()
	doc, err := schema.Policy(stores(t)...)
	if err != nil {
		t.Fatal(err)
	}
	for i, odd := range []string{"${aws:username}", "%{if true}", "$${x}", `"\`, "<&>"} {
		doc.Statement = append(doc.Statement, schema.Statement{
			Effect: "Allow", Action: []string{"s3:" + odd}, Resource: []schema.ARN{schema.ARN(fmt.Sprint("arn:aws:s3:::", i, odd))},
		})
	}
	plain, err := doc.In("aws", "eu-north-1", "123456789012")
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]cty.Value{}
	for _, store := range stores(t) {
		name := store.Table().Name
		tables[schema.LogicalID(name)] = cty.ObjectVal(map[string]cty.Value{"arn": cty.StringVal("arn:aws:dynamodb:eu-north-1:123456789012:table/" + name)})
	}
	for name, written := range map[string]schema.PolicyDocument{"by references": doc, "plain": plain} {
		policy, err := written.Terraform()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(map[string]any{"resource": map[string]any{"aws_iam_policy": map[string]any{"shop": map[string]any{"policy": policy}}}})
		if err != nil {
			t.Fatal(err)
		}
		resources, err := parse(text, map[string]cty.Value{"aws_dynamodb_table": cty.ObjectVal(tables)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got schema.PolicyDocument
		if err := json.Unmarshal([]byte(resources["aws_iam_policy.shop"].GetAttr("policy").AsString()), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plain, got); diff != "" {
			t.Errorf("%s (-plain +read):\n%s", name, diff)
		}
	}
}
