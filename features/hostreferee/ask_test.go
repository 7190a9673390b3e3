package hostreferee

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v34"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/featurewire"
)

func current(t *testing.T) dialect.Dialect {
	t.Helper()
	d, err := dialect.For("0.4")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func table(rows ...string) *godog.Table {
	t := &godog.Table{}
	for _, row := range rows {
		r := &messages.PickleTableRow{}
		for _, cell := range strings.Split(row, "|") {
			r.Cells = append(r.Cells, &messages.PickleTableCell{Value: cell})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func TestAskRow_judge(t *testing.T) {
	result, other := `{"result":{"confirmed":false}}`, `{"result":{"confirmed":"no"}}`
	refused := `{"error":{"code":-32602,"message":"bounds_exceeded of the text"}}`
	for _, c := range []struct {
		want, said, fault string
	}{
		{"result", result, ""},
		{`result {"confirmed":false}`, result, ""},
		{`result {"confirmed":true}`, result, "want"},
		{"result", other, "breaks its model"},
		{"result", "", "there is no answer"},
		{"nothing", "", ""},
		{"nothing", result, "want nothing"},
		{"nothing or result", result, ""},
		{"an answer", refused, ""},
		{"result", result + "\n" + result, "there are 2 answers"},
		{"error", refused, ""},
		{"error invalid_params", refused, ""},
		{"error invalid_request", refused, "want"},
		{"token bounds_exceeded", refused, ""},
		{"token invalid_request", refused, "want"},
		{"token bounds_exceeded", strings.Replace(refused, "exceeded ", "exceeded_by ", 1), "want"},
		{"token bounds_exceeded", strings.Replace(refused, "-32602", "-32002", 1), "want"},
		{"error", strings.Replace(refused, "-32602", "-1", 1), "not in the error table"},
		{"text secret_unavailable", `{"error":{"code":-32004,"message":"secret is unavailable"}}`, ""},
		{"text secret_unavailable", `{"error":{"code":-32004,"message":"no such secret"}}`, "want"},
	} {
		var said []hostAnswer
		for _, text := range strings.Split(c.said, "\n") {
			var r hostAnswer
			if text == "" {
				continue
			}
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				t.Fatal(err)
			}
			said = append(said, r)
		}
		got := askRow{method: featurewire.MethodConfirmationRequest, want: c.want}.judge(current(t), said)
		if c.fault == "" && got != "" || c.fault != "" && !strings.Contains(got, c.fault) {
			t.Errorf("%q answered with %q: got %q, want %q", c.want, c.said, got, c.fault)
		}
	}
}

func TestAsking_read(t *testing.T) {
	var s asking
	err := s.read(table("times|method|params|answer", `2|artifact/publish|{"n":«n»,"o":«owner»}|result`, `|notification|{"message":"m"}|nothing`, `|conform/unknown||error`), current(t))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, a := range s.rows {
		texts = append(texts, a.text)
	}
	want := strings.Join([]string{
		`{"jsonrpc":"2.0","id":"ask-1","method":"artifact/publish","params":{"n":1,"o":«owner»}}`,
		`{"jsonrpc":"2.0","id":"ask-1-2","method":"artifact/publish","params":{"n":2,"o":«owner»}}`,
		`{"jsonrpc":"2.0","method":"notification","params":{"message":"m"}}`,
		`{"jsonrpc":"2.0","id":"ask-3","method":"conform/unknown"}`,
	}, "\n")
	if got := strings.Join(texts, "\n"); got != want || !s.ownerAsked {
		t.Errorf("got the frames\n%s\nwant\n%s", got, want)
	}
	if got := s.features(current(t)); len(got) != 1 || got[0] != featurewire.FeatureArtifacts {
		t.Errorf("the asks need %q, want artifacts alone", got)
	}
	for _, bad := range []*godog.Table{table("method"), table("times|method", "many|x"), table("method", "«hex zz»")} {
		if err := new(asking).read(bad, current(t)); err == nil {
			t.Errorf("the table %v is read, want an error", bad.Rows)
		}
	}
}
