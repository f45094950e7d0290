package terraform

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
)

// The arguments of aws_dynamodb_table in version 6.36 of the provider hashicorp/aws, from
// its page "Resource: aws_dynamodb_table". An argument that stands there and not here is
// one that schema never writes: blocks for replicas, imports, restores and throughput.

func argument(name string, kind cty.Type, required bool) hcldec.Spec {
	return &hcldec.AttrSpec{Name: name, Type: kind, Required: required}
}

// oneOf is an argument with listed values.
func oneOf(name string, required bool, values ...string) hcldec.Spec {
	return &hcldec.ValidateSpec{
		Wrapped: argument(name, cty.String, required),
		Func: func(v cty.Value) hcl.Diagnostics {
			if v.IsNull() || slices.Contains(values, v.AsString()) {
				return nil
			}
			return refuse(fmt.Sprintf("%s is %q, want one of %q", name, v.AsString(), values))
		},
	}
}

func refuse(why string) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: why}}
}

// one is a block that stands at most once, some one that stands at least so often.
func one(name string, nested hcldec.ObjectSpec) hcldec.Spec {
	return &hcldec.BlockSpec{TypeName: name, Nested: nested}
}

func some(name string, least, most int, nested hcldec.ObjectSpec) hcldec.Spec {
	return &hcldec.BlockListSpec{TypeName: name, MinItems: least, MaxItems: most, Nested: nested}
}

var table = hcldec.ObjectSpec{
	"name":                        argument("name", cty.String, true),
	"region":                      argument("region", cty.String, false),
	"billing_mode":                oneOf("billing_mode", false, "PROVISIONED", "PAY_PER_REQUEST"),
	"hash_key":                    argument("hash_key", cty.String, true),
	"range_key":                   argument("range_key", cty.String, false),
	"read_capacity":               argument("read_capacity", cty.Number, false),
	"write_capacity":              argument("write_capacity", cty.Number, false),
	"deletion_protection_enabled": argument("deletion_protection_enabled", cty.Bool, false),
	"stream_enabled":              argument("stream_enabled", cty.Bool, false),
	"stream_view_type":            oneOf("stream_view_type", false, "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"),
	"table_class":                 oneOf("table_class", false, "STANDARD", "STANDARD_INFREQUENT_ACCESS"),
	"tags":                        argument("tags", cty.Map(cty.String), false),
	"attribute": some("attribute", 1, 0, hcldec.ObjectSpec{
		"name": argument("name", cty.String, true),
		"type": oneOf("type", true, "S", "N", "B"),
	}),
	"ttl": one("ttl", hcldec.ObjectSpec{
		"attribute_name": argument("attribute_name", cty.String, false),
		"enabled":        argument("enabled", cty.Bool, false),
	}),
	"point_in_time_recovery": one("point_in_time_recovery", hcldec.ObjectSpec{
		"enabled":                 argument("enabled", cty.Bool, true),
		"recovery_period_in_days": argument("recovery_period_in_days", cty.Number, false),
	}),
	"server_side_encryption": one("server_side_encryption", hcldec.ObjectSpec{
		"enabled":     argument("enabled", cty.Bool, true),
		"kms_key_arn": argument("kms_key_arn", cty.String, false),
	}),
	"local_secondary_index": some("local_secondary_index", 0, 0, hcldec.ObjectSpec{
		"name":               argument("name", cty.String, true),
		"range_key":          argument("range_key", cty.String, true),
		"projection_type":    projection,
		"non_key_attributes": argument("non_key_attributes", cty.List(cty.String), false),
	}),
	"global_secondary_index": some("global_secondary_index", 0, 0, hcldec.ObjectSpec{
		"name":               argument("name", cty.String, true),
		"hash_key":           argument("hash_key", cty.String, false),
		"range_key":          argument("range_key", cty.String, false),
		"projection_type":    projection,
		"non_key_attributes": argument("non_key_attributes", cty.List(cty.String), false),
		"read_capacity":      argument("read_capacity", cty.Number, false),
		"write_capacity":     argument("write_capacity", cty.Number, false),
		"key_schema": some("key_schema", 0, 8, hcldec.ObjectSpec{
			"attribute_name": argument("attribute_name", cty.String, true),
			"key_type":       oneOf("key_type", true, "HASH", "RANGE"),
		}),
	}),
}

var projection = oneOf("projection_type", true, "ALL", "INCLUDE", "KEYS_ONLY")

// policy has the arguments of aws_iam_policy.
var policy = hcldec.ObjectSpec{
	"name":   argument("name", cty.String, false),
	"policy": argument("policy", cty.String, true),
}

// lifecycle is Terraform's own block, which it takes out before the provider's.
var lifecycle = hcldec.ObjectSpec{
	"lifecycle": one("lifecycle", hcldec.ObjectSpec{
		"create_before_destroy": argument("create_before_destroy", cty.Bool, false),
		"prevent_destroy":       argument("prevent_destroy", cty.Bool, false),
	}),
}

// file has the blocks of a configuration.
var file = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "resource", LabelNames: []string{"type", "name"}}}}
