package assembly_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/profile"
)

const secret = "sk-never-to-be-seen-again"

// local is a provider of models on this machine, which remembers the keys that it was shown.
func local(t *testing.T) (address string, keys func() []string) {
	t.Helper()
	var mu sync.Mutex
	var shown []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		shown = append(shown, r.Header.Get("Authorization"))
		mu.Unlock()
		switch {
		case r.URL.Path == "/v1/models":
			_, _ = w.Write([]byte(`{"data":[{"id":"two"},{"id":"one"},{"id":"one"}]}`))
		case strings.Contains(r.Header.Get("Authorization"), "bad"):
			http.Error(w, `{"error":{"message":"the key `+r.Header.Get("Authorization")+` is bad"}}`, http.StatusUnauthorized)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"one\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"ok\"},\"finish_reason\":null}]}\n\n" +
				"data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"one\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1", func() []string {
		mu.Lock()
		defer mu.Unlock()
		return shown
	}
}

// TestLlm_keepsKeysToItself: OUP-LLM-001 to OUP-LLM-007, OUP-LLM-013 to OUP-LLM-015.
func TestLlm_keepsKeysToItself(t *testing.T) {
	root := t.TempDir()
	address, keys := local(t)
	var logged strings.Builder
	o := options(t, root)
	o.Log = func(err error) { logged.WriteString(err.Error()) }
	d := open(t, o)
	c := d.connect()
	var told strings.Builder
	call := func(method, params string) map[string]any {
		t.Helper()
		m := c.ok(method, params)
		text, _ := json.Marshal(m)
		told.Write(text)
		return m
	}
	selection := func(model, key string) string {
		return `{"selection":{"family_id":"here","model_id":"` + model + `","route":{"route_id":"r","base_url":"` + address + `"}},"api_key":` + key + `}`
	}
	if got := call(oupwire.MethodProfileLlmList, `{}`); got["primary"] != nil || len(got["fallbacks"].([]any)) != 0 {
		t.Errorf("at first there is %v", got)
	}
	if got := call(oupwire.MethodProfileLlmTest, selection("one", `"`+secret+`"`)); got["applied"] != true || got["primary"] != nil {
		t.Errorf("a try gives %v", got)
	}
	if got := call(oupwire.MethodProfileLlmTest, selection("one", `"`+secret+`-bad"`)); got["applied"] != false || got["error"] == "" {
		t.Errorf("a failed try gives %v", got)
	}
	first := call(oupwire.MethodProfileLlmUpsert, selection("one", `{"secret":"`+secret+`"}`))["primary"].(map[string]any)
	if first["has_api_key"] != true || first["available"] != true || first["api_key_env"] != "HERE_API_KEY" || first["selected"] != true {
		t.Errorf("stored is %v", first)
	}
	if got := call(oupwire.MethodProfileLlmUpsert, selection("two", `null`)); len(got["fallbacks"].([]any)) != 1 || got["primary"].(map[string]any)["model_id"] != "one" {
		t.Errorf("a second model gives %v", got)
	}
	got := call(oupwire.MethodProfileLlmSelect, `{"model_id":"two"}`)
	if got["selected"].(map[string]any)["model"] != "two" || got["restart_required"] != true {
		t.Errorf("a choice gives %v", got)
	}
	if got := call(oupwire.MethodProfileLlmFetchModels, selection("", `null`)); len(got["models"].([]any)) != 2 || got["reason"] != nil {
		t.Errorf("the models of the provider are %v", got)
	}
	if got := call(oupwire.MethodProfileLlmFetchModels, `{"selection":{"family_id":"openai"}}`); got["reason"] != "no_api_key" {
		t.Errorf("without a key the models are %v", got)
	}
	if got := call(oupwire.MethodProfileLlmFetchModels, `{"selection":{"family_id":"here","route":{"base_url":"http://127.0.0.1:1"}}}`); got["reason"] != "provider_unavailable" {
		t.Errorf("of nobody the models are %v", got)
	}
	if got := call(oupwire.MethodProfileLlmCatalog, `{}`)["families"].(map[string]any); got["openai"].(map[string]any)["env"] != "OPENAI_API_KEY" {
		t.Errorf("the catalog is %v", got)
	}
	if got := call(oupwire.MethodProfileLlmList, `{"session_id":"lab"}`); len(got["models"].([]any)) != 2 || got["primary"] != nil || got["session_id"] != "lab" {
		t.Errorf("the models of a session are %v", got)
	}
	if got := call(oupwire.MethodProfileLlmDelete, `{"family_id":"here","model_id":"two","route_id":"r"}`); got["applied"] != true || got["primary"].(map[string]any)["model_id"] != "one" {
		t.Errorf("taken away gives %v", got)
	}
	for name, refused := range map[string]struct{ method, params, kind string }{
		"unknown model":   {oupwire.MethodProfileLlmSelect, `{"model_id":"none"}`, "configured model"},
		"no model":        {oupwire.MethodProfileLlmUpsert, `{"selection":{"family_id":"here"}}`, ""},
		"a number as key": {oupwire.MethodProfileLlmUpsert, `{"selection":{"family_id":"here","model_id":"x"},"api_key":7}`, ""},
		"unknown profile": {oupwire.MethodProfileLlmList, `{"profile_id":"nobody"}`, "profile_unresolved"},
		"nobody's choice": {oupwire.MethodProfileLlmSelect, `{"profile_id":"nobody","model_id":"one"}`, `"resource_type":"profile"`},
	} {
		_, failure := c.call(refused.method, refused.params)
		if failure == nil || !strings.Contains(string(failure.Data.Or(nil)), refused.kind) {
			t.Errorf("%s gives %+v", name, failure)
		}
	}
	for _, shown := range keys() {
		if shown != "Bearer "+secret && shown != "Bearer "+secret+"-bad" && shown != "" {
			t.Errorf("the provider was shown %q", shown)
		}
	}
	if strings.Contains(told.String()+logged.String(), "sk-never") {
		t.Errorf("a key was told: %s %s", told.String(), logged.String())
	}
	file := filepath.Join(d.data, "profiles.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of keys has mode %v, %v", info.Mode(), err)
	}
	d.close()
	again := open(t, options(t, root)).connect()
	if got := again.ok(oupwire.MethodProfileLlmList, `{}`)["primary"].(map[string]any); got["model_id"] != "one" || got["has_api_key"] != true {
		t.Errorf("behind a restart there is %v", got)
	}
}

// TestLlm_storesNoModelThatCouldNotBeAsked: it is refused before anything is stored.
func TestLlm_storesNoModelThatCouldNotBeAsked(t *testing.T) {
	c := open(t, options(t, t.TempDir())).connect()
	long := strings.Repeat("a", 257)
	for member, selections := range map[string][]string{
		"base_url": {
			`"family_id":"f","model_id":"m","route":{"base_url":"http://user:pw@localhost/v1"}`, `"family_id":"f","model_id":"m","route":{"base_url":"file:///etc"}`,
			`"family_id":"f","model_id":"m","route":{"base_url":"http://localhost/` + strings.Repeat("a", 2048) + `"}`,
		},
		"family_id":   {`"family_id":"","model_id":"m"`, `"family_id":"` + long + `","model_id":"m"`, `"family_id":"f\u0007","model_id":"m"`},
		"model_id":    {`"family_id":"f","model_id":" "`, `"family_id":"f","model_id":"` + long + `"`, `"family_id":"f","model_id":"m\n"`},
		"route_id":    {`"family_id":"f","model_id":"m","route":{"route_id":"` + long + `"}`},
		"api_key_env": {`"family_id":"f","model_id":"m","route":{"api_key_env":"A\u0000B"}`},
	} {
		for _, selection := range selections {
			_, failure := c.call(oupwire.MethodProfileLlmUpsert, `{"selection":{`+selection+`},"api_key":"`+secret+`"}`)
			if failure == nil || failure.Code != oupwire.CodeInvalidParams || !strings.Contains(failure.Message, member) {
				t.Errorf("%.90s gives %+v", selection, failure)
			}
		}
	}
	if _, failure := c.call(oupwire.MethodProfileLlmUpsert, `{"selection":{"family_id":"f","model_id":"m"},"api_key":"a\nb"}`); failure == nil || failure.Code != oupwire.CodeInvalidParams {
		t.Errorf("a key of two lines gives %+v", failure)
	}
	if got := c.ok(oupwire.MethodProfileLlmList, `{}`); got["primary"] != nil {
		t.Errorf("stored is %v", got)
	}
	_, failure := c.call(oupwire.MethodProfileLocalCreate, `{"name":"x","username":"y","email":"`+strings.Repeat("a", 320)+`@b"}`)
	if failure == nil || !strings.Contains(string(failure.Data.Or(nil)), "profile_local_invalid_email") {
		t.Errorf("a long address gives %+v", failure)
	}
}

// TestLlm_keepsNoMoreThanCanBeTold: however much is stored, it can be listed, and what is too much is refused in words.
func TestLlm_keepsNoMoreThanCanBeTold(t *testing.T) {
	d := open(t, options(t, t.TempDir()))
	c := d.connect()
	var err error
	for n := 0; err == nil && n < 200; n++ {
		word := strings.Repeat(`\"`, 100) + fmt.Sprint(n)
		m := profile.Model{Family: word, Model: word, Route: profile.Route{ID: word, BaseURL: "http://localhost/" + strings.Repeat("a", 2000)}}
		err = d.Profiles.Upsert("_main", m, "", false)
	}
	if !errors.Is(err, profile.ErrFull) {
		t.Errorf("more than can be told gives %v", err)
	}
	if got := c.ok(oupwire.MethodProfileLlmList, `{}`)["fallbacks"].([]any); len(got) < 20 {
		t.Errorf("%d models are listed", len(got))
	}
	word := strings.Repeat("w", 200)
	_, failure := c.call(oupwire.MethodProfileLlmUpsert, `{"selection":{"family_id":"`+word+`","model_id":"`+word+`","route":{"label":"`+word+word[:50]+`","api_key_env":"`+word+
		`","route_id":"`+word+`","base_url":"http://localhost/`+strings.Repeat("a", 2000)+`"}}}`)
	if failure == nil || failure.Code != oupwire.CodeInvalidParams || !strings.Contains(failure.Message, "take some away") {
		t.Errorf("one more gives %+v", failure)
	}
}

// TestLlm_answersInSessionsOfItsProfile: what a profile has chosen is asked in its sessions, with its key.
func TestLlm_answersInSessionsOfItsProfile(t *testing.T) {
	address, keys := local(t)
	o := options(t, t.TempDir())
	o.Model = ""
	d := open(t, o)
	c := d.connect()
	if got := c.ok(oupwire.MethodProfileLocalCreate, `{"name":"Work","username":"work"}`); got["profile_id"] != "work" || got["created"] != true {
		t.Fatalf("the profile is %v", got)
	}
	c.ok(oupwire.MethodProfileLlmUpsert, `{"profile_id":"work","selection":{"family_id":"here","model_id":"one","route":{"base_url":"`+address+`"}},"api_key":"`+secret+`"}`)
	if got := c.ok(oupwire.MethodSystemStatusGet, `{}`)["status"].(map[string]any); got["model"] != "none" || got["agent_configured"] != false {
		t.Errorf("the default profile has %v", got)
	}
	c.ok(oupwire.MethodSessionOpen, `{"session_id":"work:local:lab"}`)
	turn := func(id string) {
		t.Helper()
		c.ok(oupwire.MethodTurnStart, `{"session_id":"work:local:lab","turn_id":"7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a`+id+`","input":[{"kind":"text","text":"Hello"}]}`)
		for {
			text, err := c.Read()
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), `"type":"turn_terminal"`) {
				if !strings.Contains(string(text), `"outcome":"completed"`) {
					t.Errorf("the turn ends with %s", text)
				}
				return
			}
		}
	}
	turn("01")
	if shown := keys(); len(shown) != 1 || shown[0] != "Bearer "+secret {
		t.Errorf("the provider was shown %q", shown)
	}
	if got := c.ok(oupwire.MethodRouterGetMetrics, `{"session_id":"work:local:lab"}`); got["provider_name"] != "here" || got["mode"] != "off" {
		t.Errorf("the metrics are %v", got)
	}
	if got := c.ok(oupwire.MethodSystemStatusGet, `{}`)["status"].(map[string]any); got["model"] != "one" || got["version"] != "test" {
		t.Errorf("the profile that the connection opened last has %v", got)
	}
	c.ok(oupwire.MethodProfileLlmUpsert, `{"profile_id":"work","selection":{"family_id":"there","model_id":"two","route":{"base_url":"`+address+`"}},"api_key":"sk-another"}`)
	if got := c.ok(oupwire.MethodProfileLlmSelect, `{"profile_id":"work","model_id":"two"}`); got["applied"] != true || got["restart_required"] != nil {
		t.Errorf("another choice is %v", got)
	}
	turn("02") // the next one has it
	if shown := keys(); len(shown) != 2 || shown[1] != "Bearer sk-another" {
		t.Errorf("behind another choice the provider was shown %q", shown)
	}
	if got := c.ok(oupwire.MethodRouterGetMetrics, `{"session_id":"work:local:lab"}`); got["provider_name"] != "there" {
		t.Errorf("behind another choice the metrics are %v", got)
	}
	c.ok(oupwire.MethodSessionOpen, `{"session_id":"_main:local:lab"}`)
	_, failure := c.call(oupwire.MethodTurnStart, `{"session_id":"_main:local:lab","turn_id":"7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a01","input":[{"kind":"text","text":"Hello"}]}`)
	if failure == nil || !strings.Contains(string(failure.Data.Or(nil)), "runtime_unavailable") || strings.Contains(failure.Message, secret) {
		t.Errorf("without a model a turn gives %+v", failure)
	}
}

// TestPeople_areMadeByTheirRules: OUP-PROFILE-001 to OUP-PROFILE-009.
func TestPeople_areMadeByTheirRules(t *testing.T) {
	d := open(t, options(t, t.TempDir()))
	c := d.connect()
	create := func(params, want string) {
		t.Helper()
		result, failure := c.call(oupwire.MethodProfileLocalCreate, params)
		got := string(result)
		if failure != nil {
			got = string(failure.Data.Or(nil))
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s gives %s, want %s", params, got, want)
		}
	}
	create(`{"name":"Ann","username":"Ann_B..C"}`, `"created":true,"email":null,"name":"Ann","profile_id":"ann-b-c","runtime_mode":"solo","user_id":"ann-b-c","username":"ann-b-c"`)
	create(`{"name":"Ann","username":"ann-b-c"}`, `"created":false`)
	create(`{"name":"Other","username":"ann-b-c"}`, `"kind":"profile_local_collision"`)
	create(`{"name":"Other","username":"ann-b-c","requested_id":"other"}`, `"kind":"profile_local_collision"`)
	create(`{"name":"Eve","username":"eve","email":"eve@example.org"}`, `"created":true,"email":"eve@example.org"`)
	create(`{"name":"Eva","username":"eva","email":"eve@example.org"}`, `"reason":"email"`)
	create(`{"requested_id":"GLM"}`, `"name":"GLM","profile_id":"glm"`)
	create(`{"requested_id":"glm"}`, `"profile_id":"glm-2","runtime_mode":"solo","user_id":"glm-2","username":"glm-2"`) // of another name
	create(`{"requested_id":"GLM"}`, `"created":false,"email":null,"name":"GLM","profile_id":"glm"`)
	create(`{"requested_id":"glm","name":"Another"}`, `"profile_id":"glm-3","runtime_mode":"solo","user_id":"glm-3","username":"glm-3"`)
	create(`{"requested_id":"glm","name":"Another"}`, `"created":false,"email":null,"name":"Another","profile_id":"glm-3"`)
	create(`{"requested_id":"glm","name":"More","email":"eve@example.org"}`, `"reason":"email"`)
	create(`{"requested_id":"glm","name":"More","username":"glm-2"}`, `"reason":"username"`)
	create(`{"requested_id":"glm","name":"More","username":"more"}`, `"profile_id":"glm-4","runtime_mode":"solo","user_id":"glm-4","username":"more"`)
	create(`{"requested_id":"telegram","name":"Bot"}`, `"profile_id":"telegram-2","runtime_mode":"solo","user_id":"telegram-2","username":"telegram-2"`)
	create(`{"requested_id":"Telegram","name":"Bot","username":"bot"}`, `"profile_id":"telegram-3"`)
	create(`{"requested_id":"_main","name":"Main"}`, `"profile_id":"main"`)
	create(`{"requested_id":"...","name":"Dots"}`, `"profile_id":"dots"`)
	create(`{"requested_id":"`+strings.Repeat("a", 129)+`","name":"Long","username":"long"}`, `"kind":"profile_local_invalid_name"`)
	create(`{"requested_id":"`+strings.Repeat("a", 64)+`","name":"Long"}`, `"profile_id":"`+strings.Repeat("a", 64)+`"`)
	create(`{"requested_id":"`+strings.Repeat("a", 64)+`","name":"Longer"}`, `"kind":"profile_local_invalid_username"`)
	create(`{}`, `"kind":"profile_local_invalid_name"`)
	create(`{"name":"a\u0007"}`, `"kind":"profile_local_invalid_name"`)
	create(`{"name":"x","username":"telegram"}`, `"kind":"profile_local_invalid_username"`)
	create(`{"name":"x","username":"..."}`, `"kind":"profile_local_invalid_username"`)
	create(`{"name":"x","username":"y","email":"a b@c"}`, `"kind":"profile_local_invalid_email"`)
	if got := c.ok(oupwire.MethodAuthStatus, `{}`); got["authenticated"] != true || got["token_login"] != false || got["profile_id"] != "_main" {
		t.Errorf("the state of logins is %v", got)
	}
}

// TestPlaces_areToldWithoutChangingThem: OUP-ONBOARD-002, OUP-ONBOARD-003, OUP-ONBOARD-007, OUP-LAUNCH-001 to OUP-LAUNCH-003.
func TestPlaces_areToldWithoutChangingThem(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, root)
	c := open(t, o).connect()
	probe := func(path string) map[string]any {
		t.Helper()
		params, _ := json.Marshal(map[string]string{"path": path})
		return c.ok(oupwire.MethodOnboardingWorkspaceProbe, string(params))
	}
	if got := probe("~/work"); got["canonical_path"] != o.Workspace || got["writable"] != true || got["is_directory"] != true || got["root_escape"] != false {
		t.Errorf("a workspace is %v", got)
	}
	if got := probe(filepath.Join(root, "none")); got["exists"] != false || got["canonical_path"] != nil {
		t.Errorf("nothing is %v", got)
	}
	if got := probe("/etc"); got["root_escape"] != true || got["banned_root"] != "/etc" || got["writable"] != false {
		t.Errorf("/etc is %v", got)
	}
	near := map[string]string{o.DataDir: o.DataDir, filepath.Join(o.DataDir, "none"): o.DataDir, filepath.Join(o.DataDir, "tasks"): o.DataDir, root: root}
	if link := filepath.Join(root, "link"); os.Symlink(o.DataDir, link) == nil { // not everybody may make one
		near[link] = o.DataDir
	}
	for path, banned := range near {
		got := probe(path)
		if got["root_escape"] != true || got["banned_root"] != banned || got["writable"] != false {
			t.Errorf("%s, where no session may be opened, is %v", path, got)
		}
		params, _ := json.Marshal(map[string]string{"session_id": "local:near", "cwd": path})
		if _, failure := c.call(oupwire.MethodSessionOpen, string(params)); failure == nil {
			t.Errorf("a session works in %s", path)
		}
	}
	policy := filepath.Join(o.Workspace, ".octos-workspace.toml")
	for text, want := range map[string]string{"kind = \"coding\"\n": `"kind":"coding","parse_error":null,"present":true`, "kind = \n": `"kind":null,"parse_error":"1:`} {
		if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(probe("~/work")["workspace_policy"]); !strings.Contains(string(got), want) {
			t.Errorf("the policy %q is %s", text, got)
		}
	}
	if _, failure := c.call(oupwire.MethodOnboardingWorkspaceProbe, `{"path":" "}`); failure == nil || !strings.Contains(string(failure.Data.Or(nil)), `"reason":"empty"`) {
		t.Errorf("a blank path gives %+v", failure)
	}
	if _, failure := c.call(oupwire.MethodOnboardingWorkspaceProbe, `{"path":"/`+strings.Repeat("a", 1<<20-200)+`"}`); failure == nil ||
		failure.Code != oupwire.CodeInvalidParams || !strings.Contains(string(failure.Data.Or(nil)), `"reason":"too_long"`) {
		t.Errorf("a path that is none gives %+v", failure)
	}
	launch := func(profile string) map[string]any {
		t.Helper()
		params, _ := json.Marshal(map[string]string{"cwd": o.Workspace, "profile_id": profile})
		if profile == "" {
			params, _ = json.Marshal(map[string]string{"cwd": o.Workspace})
		}
		return c.ok(oupwire.MethodLaunchResolve, string(params))
	}
	if got := launch(""); got["decision"] != "activate" || got["resolved_profile"] != "_main" {
		t.Errorf("in a fresh folder: %v", got)
	}
	c.ok(oupwire.MethodProfileLocalCreate, `{"name":"Work","username":"work"}`)
	c.ok(oupwire.MethodSessionOpen, `{"session_id":"work:local:lab"}`)
	if got := launch(""); got["decision"] != "resume" || got["resolved_profile"] != "work" {
		t.Errorf("with a conversation: %v", got)
	}
	if got := launch("_main"); got["decision"] != "cross_profile" || len(got["existing_profiles"].([]any)) != 1 {
		t.Errorf("with one of somebody else: %v", got)
	}
	if _, failure := c.call(oupwire.MethodLaunchResolve, `{"cwd":"work"}`); failure == nil || failure.Code != oupwire.CodeInvalidParams {
		t.Errorf("a relative path gives %+v", failure)
	}
	if got := c.ok(oupwire.MethodToolStatusList, `{"session_id":"work:local:lab"}`)["tools"].([]any); len(got) < 5 {
		t.Errorf("the tools are %v", got)
	}
	if got := c.ok(oupwire.MethodMCPStatusList, `{"session_id":"work:local:lab"}`); len(got["servers"].([]any)) != 0 {
		t.Errorf("the servers are %v", got)
	}
}
