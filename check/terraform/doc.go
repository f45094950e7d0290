// Package terraform holds what schema writes for Terraform to Terraform's own parser, and
// to the arguments of the provider's resource. It has only tests.
package terraform
