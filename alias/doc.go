// Package alias keeps a vocabulary for each scope: what people say, and the
// canonical name it stands for.
package alias
