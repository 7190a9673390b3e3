package differential_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/differential"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/vectors"
	"github.com/octet-dev/octet/gen/derive"
	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/spec"
)

var (
	runs = flag.Int("runs", 2000, "questions of TestRun_threeLanguagesAgree; 0 for as many as fit into -for")
	span = flag.Duration("for", time.Minute, "ends TestRun_threeLanguagesAgree")
	seed = flag.Uint64("seed", 1, "of the questions")
)

// everyVector are the questions that the spec holds and those that follow from its models.
var everyVector = sync.OnceValues(func() ([]vectors.Vector, error) {
	loaded, err := load.Load(spec.Files)
	if err != nil {
		return nil, err
	}
	all, err := vectors.Load(spec.Files)
	for _, w := range loaded.Wires {
		document, derr := derive.Document(w)
		derived, rerr := vectors.Read("derived-"+w.Name+".json", document)
		all, err = append(all, derived...), errors.Join(err, derr, rerr)
	}
	return all, err
})

func seeds(t *testing.T) []vectors.Vector {
	t.Helper()
	all, err := everyVector()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// testees are the codecs of the three languages; they need what make build prepares.
func testees(t *testing.T) []subject.Starter {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testee := filepath.Join(t.TempDir(), "testee-go")
	if output, err := exec.Command("go", "build", "-o", testee, "../../sdk-go/testee").CombinedOutput(); err != nil {
		t.Fatalf("build the testee: %v\n%s", err, output)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(root, ".venv", "bin", "python")
	program := func(path string, args ...string) subject.Starter {
		return subject.Command{Path: path, Args: args, Dir: root, Env: append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")}
	}
	return []subject.Starter{
		program(testee),
		program(python, "-m", "octet_extension.testee"), program(python, "-m", "octet_oup.testee"),
		program(node, "sdk-ts/dist/src/testee.js"), program(node, "sdk-ts/oup/dist/src/testee.js"),
	}
}

// The codecs of Go, Python and TypeScript say the same about questions that nobody wrote down.
func TestRun_threeLanguagesAgree(t *testing.T) {
	report, err := differential.Run(t.Context(), differential.Options{
		Testees: testees(t), Vectors: seeds(t), Seed: *seed, Runs: *runs, For: *span, Limit: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("the codecs disagree:\n%s", f)
	}
	if report.Asked == 0 {
		t.Error("nothing was asked")
	}
	t.Logf("execs: %d, disagreements: %d, seed: %d", report.Asked, len(report.Findings), *seed)
}

// What the codecs once answered differently stays agreed on. The file is a list of what a question is about, and the
// question.
func TestAsk_whatDifferedOnce(t *testing.T) {
	text, err := os.ReadFile("testdata/differed.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		About    string           `json:"about"`
		Question vectors.Question `json:"question"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 17 {
		t.Fatalf("%d questions, want at least 17", len(rows))
	}
	var questions []vectors.Question
	for _, row := range rows {
		questions = append(questions, row.Question)
	}
	findings, err := differential.Ask(t.Context(), testees(t), questions, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Errorf("the codecs disagree:\n%s", f)
	}
}

// A codec that lies now and then, and one that dies, are found, and what is shown of them is small.
func TestRun_findsAFaultyCodec(t *testing.T) {
	for _, c := range []struct{ fault, want string }{
		{"lie", `"error":"planted"`},
		{"die", "its output ended"},
	} {
		report, err := differential.Run(t.Context(), differential.Options{
			Testees: []subject.Starter{codec(t, ""), codec(t, c.fault)}, Vectors: seeds(t), Seed: 1, Runs: 20000, Most: 1, Limit: time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Findings) != 1 {
			t.Fatalf("%s: %d findings in %d questions, want 1", c.fault, len(report.Findings), report.Asked)
		}
		found := report.Findings[0].String()
		if !strings.Contains(found, c.want) {
			t.Errorf("%s: found\n%s\nwant %s in it", c.fault, found, c.want)
		}
		if len(found) > 600 {
			t.Errorf("%s: the finding has %d bytes, want fewer:\n%s", c.fault, len(found), found)
		}
	}
}

// codec is a testee of the referee's own: this test program, which answers every question alike. A fault plants
// another answer, or an end, for texts that hold a member named a.
func codec(t *testing.T, fault string) subject.Starter {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return subject.Command{Path: program, Env: append(os.Environ(), "OCTET_CODEC=codec"+fault)}
}

func TestMain(m *testing.M) {
	if fault, asked := strings.CutPrefix(os.Getenv("OCTET_CODEC"), "codec"); asked {
		answer(fault)
		return
	}
	os.Exit(m.Run())
}

func answer(fault string) {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var q vectors.Question
		if err := json.Unmarshal(line, &q); err != nil {
			os.Exit(1)
		}
		said := map[string]any{"seq": q.Seq, "verdict": "reject", "error": "sound"}
		switch hit := q.Text != nil && strings.Contains(*q.Text, `"a":`); {
		case q.Op == "hello":
			said = map[string]any{"seq": q.Seq, "ok": true, "name": "codec", "protocol": q.Protocol}
		case hit && fault == "lie":
			said["error"] = "planted"
		case hit && fault == "die":
			os.Exit(3)
		}
		text, err := json.Marshal(said)
		if err != nil {
			os.Exit(1)
		}
		os.Stdout.Write(append(text, '\n'))
	}
}

// Which questions are made follows from the seed.
func TestGenerator_isRepeatable(t *testing.T) {
	list := func(seed uint64) string {
		g := differential.NewGenerator(seed, seeds(t))
		var text strings.Builder
		for range 300 {
			text.WriteString(g.Next().String())
		}
		return text.String()
	}
	first, again := list(7), list(7)
	if first != again {
		t.Error("one seed makes two lists of questions")
	}
	if first == list(8) {
		t.Error("two seeds make one list of questions")
	}
}
