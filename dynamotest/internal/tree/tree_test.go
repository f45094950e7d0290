package tree_test

import (
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/tree"
)

// model is the obvious implementation that the tree is compared with.
type model map[string]int

func (m model) ascend(from string) []string {
	keys := slices.Sorted(maps.Keys(m))
	i, _ := slices.BinarySearch(keys, from)
	return keys[i:]
}

func (m model) descend(below string) []string {
	keys := slices.Sorted(maps.Keys(m))
	i, _ := slices.BinarySearch(keys, below)
	keys = keys[:i]
	slices.Reverse(keys)
	return keys
}

func keysOf(seq iter.Seq2[string, int]) []string {
	var keys []string
	for k := range seq {
		keys = append(keys, k)
	}
	return keys
}

// check compares every answer of the tree with the model's.
func check(t *testing.T, tree *tree.Tree[int], want model, probes []string) {
	t.Helper()
	if tree.Len() != len(want) {
		t.Fatalf("Len() = %d, want %d", tree.Len(), len(want))
	}
	for _, p := range probes {
		got, ok := tree.Get(p)
		if w, has := want[p]; got != w || ok != has {
			t.Fatalf("Get(%x) = %d, %v, want %d, %v", p, got, ok, w, has)
		}
		if got, want := keysOf(tree.Ascend(p)), want.ascend(p); !slices.Equal(got, want) {
			t.Fatalf("Ascend(%x) yields %d keys, want %d", p, len(got), len(want))
		}
		if got, want := keysOf(tree.Descend(p)), want.descend(p); !slices.Equal(got, want) {
			t.Fatalf("Descend(%x) yields %d keys, want %d", p, len(got), len(want))
		}
	}
}

func TestTreeBehavesLikeASortedMap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			key := func() string {
				return string(binary.BigEndian.AppendUint16(nil, uint16(random.IntN(6000))))
			}
			var tree tree.Tree[int]
			want := model{}
			// Each phase has its own share of deletions, so the tree grows deep and is then emptied.
			for _, deletions := range []int{10, 50, 90, 30, 97} {
				for i := range 8000 {
					k := key()
					w, had := want[k]
					if random.IntN(100) < deletions {
						delete(want, k)
						if got, removed := tree.Delete(k); removed != had || got != w {
							t.Fatalf("Delete(%x) = %d, %v, want %d, %v", k, got, removed, w, had)
						}
						continue
					}
					want[k] = i
					if got, replaced := tree.Set(k, i); replaced != had || got != w {
						t.Fatalf("Set(%x) = %d, %v, want %d, %v", k, got, replaced, w, had)
					}
				}
				check(t, &tree, want, []string{"", key(), key(), "\xff\xff\xff"})
			}
			for k := range want {
				tree.Delete(k)
			}
			check(t, &tree, model{}, []string{"", "a"})
		})
	}
}

func TestRisingAndFallingKeys(t *testing.T) {
	t.Parallel()
	const n = 20000
	for name, order := range map[string]func(int) int{
		"rising":  func(i int) int { return i },
		"falling": func(i int) int { return n - 1 - i },
	} {
		for taken, take := range map[string]func(int) int{
			"from the left":  func(i int) int { return i },
			"from the right": func(i int) int { return n - 1 - i },
		} {
			t.Run(name+" taken "+taken, func(t *testing.T) {
				t.Parallel()
				var tree tree.Tree[int]
				want := model{}
				for i := range n {
					k := fmt.Sprintf("%06d", order(i))
					tree.Set(k, i)
					want[k] = i
				}
				check(t, &tree, want, []string{"", "010000"})
				for i := range n - 10 {
					k := fmt.Sprintf("%06d", take(i))
					if _, ok := tree.Delete(k); !ok {
						t.Fatalf("Delete(%s) found nothing", k)
					}
					delete(want, k)
				}
				check(t, &tree, want, []string{"", "010000"})
			})
		}
	}
}

func TestClonesAreIndependent(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	key := func() string { return fmt.Sprintf("%04d", random.IntN(4000)) }
	trees := []*tree.Tree[int]{{}}
	models := []model{{}}
	for i := range 60000 {
		if i%1500 == 0 && len(trees) < 12 {
			from := random.IntN(len(trees))
			trees = append(trees, trees[from].Clone())
			models = append(models, maps.Clone(models[from]))
		}
		which := random.IntN(len(trees))
		k := key()
		if random.IntN(3) == 0 {
			trees[which].Delete(k)
			delete(models[which], k)
		} else {
			trees[which].Set(k, i)
			models[which][k] = i
		}
	}
	for i, tree := range trees {
		check(t, tree, models[i], []string{"", key(), key()})
		for k, v := range tree.Ascend("") {
			if models[i][k] != v {
				t.Fatalf("tree %d: %s = %d, want %d", i, k, v, models[i][k])
			}
		}
	}
}

// A clone is read while its origin is written: the race detector finds faults.
func TestCloneIsReadBesideWrites(t *testing.T) {
	t.Parallel()
	var tree tree.Tree[int]
	for i := range 5000 {
		tree.Set(fmt.Sprint(i), i)
	}
	snapshot := tree.Clone()
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			sum := 0
			for _, v := range snapshot.Ascend("") {
				sum += v
			}
			if want := 4999 * 5000 / 2; sum != want {
				t.Errorf("the snapshot sums to %d, want %d", sum, want)
			}
		})
	}
	for i := range 5000 {
		tree.Set(fmt.Sprint(i), -1)
		tree.Delete(fmt.Sprint(i * 2))
	}
	readers.Wait()
}

func TestAnEarlyBreakStopsTheWalk(t *testing.T) {
	t.Parallel()
	var tree tree.Tree[int]
	for i := range 1000 {
		tree.Set(fmt.Sprintf("%04d", i), i)
	}
	for name, seq := range map[string]iter.Seq2[string, int]{
		"Ascend": tree.Ascend("0100"), "Descend": tree.Descend("0900"),
	} {
		seen := 0
		for range seq {
			if seen++; seen == 300 {
				break
			}
		}
		if seen != 300 {
			t.Errorf("%s yielded %d entries, want 300", name, seen)
		}
	}
}

func BenchmarkTree(b *testing.B) {
	const n = 100_000
	keys := make([]string, n)
	var tree tree.Tree[*int]
	for i := range keys {
		keys[i] = fmt.Sprintf("partition/%08d", i*7919%n)
		tree.Set(keys[i], &i)
	}
	b.Run("Get", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			tree.Get(keys[i%n])
		}
	})
	b.Run("Set", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			tree.Set(keys[i%n], nil)
		}
	})
	b.Run("CloneAndSet", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			tree.Clone()
			tree.Set(keys[i%n], nil)
		}
	})
}
