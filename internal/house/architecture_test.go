package house

import (
	"go/ast"
	"go/types"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// A row of a walk says what happens, which functions do it, and in which files.
var walkRow = regexp.MustCompile("(?m)^\\| [^|]*\\| (`[^|]+`) \\| (`[^|]+`) \\|$")

var quoted = regexp.MustCompile("`([^`\n]+)`")

func TestWalksNameWhatExists(t *testing.T) {
	t.Parallel()
	declared := map[string]map[string]bool{} // functions and methods, by file
	for _, f := range sources(t) {
		declared[f.path] = map[string]bool{}
		for _, decl := range f.file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				declared[f.path][fn.Name.Name] = true
			}
		}
	}
	text := read(t, "ARCHITECTURE.md")
	rows := walkRow.FindAllStringSubmatch(text, -1)
	// Each walk's table has a head of two lines. A line that does not have the form
	// of a step would not be checked.
	if lines := strings.Count(text, "\n|") - 2*strings.Count(text, "| step |"); len(rows) < 30 || len(rows) != lines {
		t.Fatalf("%d steps in %d lines", len(rows), lines)
	}
	for _, row := range rows {
		files := quoted.FindAllStringSubmatch(row[2], -1)
		for _, fn := range quoted.FindAllStringSubmatch(row[1], -1) {
			found := false
			for _, file := range files {
				found = found || declared[file[1]][fn[1]]
			}
			if !found {
				t.Errorf("ARCHITECTURE.md: there is no function %s in %s", fn[1], row[2])
			}
		}
	}
}

// A text in backquotes with a slash is a path.
func TestArchitectureNamesPathsThatExist(t *testing.T) {
	t.Parallel()
	for _, m := range quoted.FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1) {
		if !strings.Contains(m[1], "/") {
			continue
		}
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("ARCHITECTURE.md: %v", err)
		}
	}
}

// floors returns the floor of each package that a drawing names, from the top down.
// A line begins with the floor's purpose.
func floors(drawing string) map[string]int {
	floor := map[string]int{}
	for i, line := range strings.Split(drawing, "\n") {
		if parts := regexp.MustCompile(`\s{2,}`).Split(line, 2); len(parts) == 2 {
			for _, pkg := range regexp.MustCompile(`[a-z/]+`).FindAllString(parts[1], -1) {
				floor[pkg] = i
			}
		}
	}
	return floor
}

// drawing returns the drawing that has the line.
func drawing(t *testing.T, line string) string {
	t.Helper()
	parts := strings.Split(read(t, "ARCHITECTURE.md"), "```")
	for i := 1; i < len(parts); i += 2 {
		if strings.Contains(parts[i], "\n"+line+" ") {
			return parts[i]
		}
	}
	t.Fatalf("ARCHITECTURE.md has no drawing with %s", line)
	return ""
}

// The drawn floors are right: a package imports only from floors below its own.
// dynamotest's rooms may use one another.
func TestFloorsAreDrawnAsTheyAre(t *testing.T) {
	t.Parallel()
	library, server := floors(drawing(t, "record types")), floors(drawing(t, "what tests use"))
	const house = "dynamotest"
	for _, f := range sources(t) {
		pkg := path.Dir(f.path)
		if f.test || f.nested || pkg == "." || f.in("examples/", house+"/tools/", "internal/golden/", "internal/itemtest/", "internal/pricetest/", "internal/proof/", "internal/recordtest/", "internal/stacktest/") {
			continue
		}
		floor, same := library, pkg == "internal/rmw"
		if f.in(house) || pkg == "internal/network" {
			floor, same, pkg = server, true, strings.TrimPrefix(pkg, house+"/internal/")
		}
		if f.in(house + "/cmd/") {
			continue
		}
		from, drawn := floor[pkg]
		if !drawn {
			t.Errorf("ARCHITECTURE.md: %s has no floor", path.Dir(f.path))
			continue
		}
		for _, spec := range f.file.Imports {
			to, ours := strings.CutPrefix(imported(spec), module+"/")
			at, known := floor[strings.TrimPrefix(to, house+"/internal/")]
			if ours && (!known || at < from || at == from && !same) {
				t.Errorf("%s: ARCHITECTURE.md does not draw %s below %s", f.at(spec), to, pkg)
			}
		}
	}
}

// The order of the engine's files is drawn right: what a file uses, and does not
// declare itself, is in a file to its right or below it.
func TestOrderOfTheEngine(t *testing.T) {
	t.Parallel()
	place := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(drawing(t, "one request")), "\n") {
		for _, name := range regexp.MustCompile(`\s{2,}`).Split(line, -1)[1:] {
			place[name+".go"] = len(place)
		}
	}
	var engine []source
	var files []*ast.File
	for _, f := range sources(t) {
		if !f.test && path.Dir(f.path) == "dynamotest/internal/engine" && path.Base(f.path) != "doc.go" {
			engine, files = append(engine, f), append(files, f.file)
		}
	}
	if len(engine) != len(place) {
		t.Errorf("%d files, and ARCHITECTURE.md draws %d", len(engine), len(place))
	}
	// Only the engine's own names matter, so its imports are left unknown.
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	fset, uses := engine[0].fset, 0
	conf := types.Config{Error: func(error) {}}
	pkg, _ := conf.Check("engine", fset, files, info)
	for use, of := range info.Uses {
		from, to := path.Base(fset.Position(use.Pos()).Filename), path.Base(fset.Position(of.Pos()).Filename)
		if of.Pkg() != pkg || from == to {
			continue
		}
		if uses++; place[from] > place[to] {
			t.Errorf("%s uses %s of %s, which ARCHITECTURE.md draws above it", fset.Position(use.Pos()), use.Name, to)
		}
	}
	if uses < 1000 {
		t.Errorf("%d uses: the test does not see the engine", uses)
	}
}

// So are the floors of the services. What their drawings leave out stands above them:
// commands, and what runs on AWS.
func TestFloorsOfTheServices(t *testing.T) {
	t.Parallel()
	for folder, line := range map[string]string{"examples/homeops/": "to look at", "examples/quill/": "its webhooks"} {
		floor, seen := floors(drawing(t, line)), 0
		for _, f := range sources(t) {
			from, drawn := floor[strings.TrimPrefix(path.Dir(f.path), folder)]
			if f.test || !f.in(folder) || !drawn {
				continue
			}
			for _, spec := range f.file.Imports {
				to, ours := strings.CutPrefix(imported(spec), module+"/"+folder)
				if at, known := floor[to]; ours && (!known || at <= from) {
					t.Errorf("%s: ARCHITECTURE.md does not draw %s lower", f.at(spec), to)
				}
				seen++
			}
		}
		if seen < 100 {
			t.Errorf("%s: %d imports: the test does not see them", folder, seen)
		}
	}
}
