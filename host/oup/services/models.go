package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/oup/private"
	"github.com/octet-dev/octet/host/oup/profile"
	"github.com/octet-dev/octet/host/oup/rpc"
)

func (r *Rows) models() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodProfileLlmCatalog:     rpc.Handle(oupwire.DecodeProfileLlmCatalogParams, r.catalog),
		oupwire.MethodProfileLlmList:        rpc.Handle(oupwire.DecodeProfileLlmListParams, r.list),
		oupwire.MethodProfileLlmUpsert:      rpc.Handle(oupwire.DecodeProfileLlmUpsertParams, r.upsert),
		oupwire.MethodProfileLlmSelect:      rpc.Handle(oupwire.DecodeProfileLlmSelectParams, r.choose),
		oupwire.MethodProfileLlmDelete:      rpc.Handle(oupwire.DecodeProfileLlmDeleteParams, r.remove),
		oupwire.MethodProfileLlmTest:        rpc.Handle(oupwire.DecodeProfileLlmUpsertParams, r.try),
		oupwire.MethodProfileLlmFetchModels: rpc.Handle(oupwire.DecodeProfileLlmUpsertParams, r.fetch),
	}
}

// fail spells what a profile cannot do.
func (r *Rows) fail(call *rpc.Call, err error) error {
	var unknown *profile.UnknownError
	var faulty *profile.ModelError
	var large *private.LargeError
	switch {
	case errors.As(err, &unknown):
		return notFound(call, "profile", unknown.ID, err)
	case errors.Is(err, profile.ErrAmbiguous), errors.Is(err, profile.ErrNoKey), errors.Is(err, profile.ErrFull), errors.As(err, &faulty), errors.As(err, &large):
		return invalid(call, err)
	}
	return err
}

// catalog lists the models that are known by themselves, with prices per million tokens.
func (r *Rows) catalog(ctx context.Context, call *rpc.Call, _ oupwire.ProfileLlmCatalogParams) (oupwire.ProfileLlmCatalogResult, error) {
	result := oupwire.ProfileLlmCatalogResult{Families: map[string]oupwire.LlmCatalogFamily{}}
	models, err := r.Models(call.Scope.Profile)
	if err != nil {
		return result, err
	}
	for name, variable := range r.Profiles.Families() {
		result.Families[name] = oupwire.LlmCatalogFamily{Env: variable, Models: []oupwire.LlmCatalogModel{}}
	}
	for _, info := range models.Registry.Models(ctx) {
		family, known := result.Families[info.Provider]
		if !known {
			continue // an extension serves it, and needs no key of the profile
		}
		one := oupwire.LlmCatalogModel{ID: info.Model, Input: "0", Output: "0", MaxOutput: info.MaxOutputTokens}
		if info.Price != nil {
			one.Input, one.Output = dollars(info.Price.Input), dollars(info.Price.Output)
		}
		if info.ContextWindow > 0 {
			one.ContextWindow = wirejson.Some(info.ContextWindow)
		}
		family.Models = append(family.Models, one)
		result.Families[info.Provider] = family
	}
	return result, nil
}

// dollars spells microdollars.
func dollars(micro int64) json.Number {
	return json.Number(strconv.FormatFloat(float64(micro)/1e6, 'f', -1, 64))
}

// configured describes the models of a profile.
func (r *Rows) configured(id string) (oupwire.LlmConfigured, error) {
	listed, err := r.Profiles.List(id)
	if err != nil {
		return oupwire.LlmConfigured{}, err
	}
	c := oupwire.LlmConfigured{Primary: wirejson.Null[oupwire.LlmProvider](), Fallbacks: []oupwire.LlmProvider{}}
	if listed.Primary != nil {
		c.Primary = wirejson.Some(r.describe(listed, *listed.Primary, true))
	}
	for _, m := range listed.Fallbacks {
		c.Fallbacks = append(c.Fallbacks, r.describe(listed, m, false))
	}
	return c, nil
}

// describe tells a model without its key.
//
// Rule: OUP-LLM-002.
func (r *Rows) describe(of profile.Listed, m profile.Model, selected bool) oupwire.LlmProvider {
	m = r.Profiles.Settled(m)
	p := oupwire.LlmProvider{
		Provider: m.Family, Model: m.Model, FamilyID: m.Family, ModelID: m.Model, Route: wirejson.Some(route(m)),
		RouteID: wirejson.Null[string](), BaseURL: wirejson.Null[string](), APIKeyEnv: wirejson.Some(m.Route.Variable),
		HasAPIKey: of.HasKey(m), Selected: selected, Available: of.Available(m),
	}
	if m.Route.ID != "" {
		p.RouteID = wirejson.Some(m.Route.ID)
	}
	if m.Route.BaseURL != "" {
		p.BaseURL = wirejson.Some(m.Route.BaseURL)
	}
	return p
}

func route(m profile.Model) json.RawMessage {
	var r oupwire.LlmRoute
	for _, member := range []struct {
		to   *wirejson.Opt[string]
		text string
	}{
		{&r.RouteID, m.Route.ID}, {&r.Label, m.Route.Label}, {&r.BaseURL, m.Route.BaseURL}, {&r.APIKeyEnv, m.Route.Variable}, {&r.APIType, m.Route.Type},
	} {
		if member.text != "" {
			*member.to = wirejson.Some(member.text)
		}
	}
	return r.AppendJSON(nil)
}

// stamp is what counts in a profile, as far as it has to do with models.
func (r *Rows) stamp(id string) oupwire.RuntimePolicyStamp {
	stamp := oupwire.RuntimePolicyStamp{RuntimeMode: wirejson.Some(oupwire.RuntimeModeSolo)}
	if provider, name := r.inUse(id); name != "" {
		stamp.Provider, stamp.Model = wirejson.Some(provider), wirejson.Some(name)
	}
	return stamp
}

// inUse is the model that a new session of a profile gets; empty for none.
func (r *Rows) inUse(id string) (provider, name string) {
	reference := r.Model
	if reference == "" {
		reference = r.Default(id)
	}
	i := strings.IndexAny(reference, ":/")
	if i < 0 {
		return "", reference
	}
	return reference[:i], reference[i+1:]
}

// list tells the models of a profile, or those of a session.
//
// Rule: OUP-LLM-012.
func (r *Rows) list(_ context.Context, call *rpc.Call, p oupwire.ProfileLlmListParams) (oupwire.ProfileLlmListResult, error) {
	var result oupwire.ProfileLlmListResult
	id := call.Scope.Profile
	if session, has := p.SessionID.Get(); has {
		listed, err := r.Profiles.List(id)
		if err != nil {
			return result, r.fail(call, err)
		}
		models := []oupwire.LlmModelStatus{}
		for i, m := range listed.All() {
			models = append(models, r.status(listed, m, i == 0 && listed.Primary != nil))
		}
		result.SessionID, result.Models = wirejson.Some(session), wirejson.Some(models)
		return result, nil
	}
	configured, err := r.configured(id)
	if err != nil {
		return result, r.fail(call, err)
	}
	result.ProfileID, result.Fallbacks = wirejson.Some(id), wirejson.Some(configured.Fallbacks)
	if _, has := configured.Primary.Get(); has {
		result.Primary = configured.Primary
	}
	result.Llm, result.RuntimePolicyStamp = wirejson.Some(configured), wirejson.Some(r.stamp(id))
	return result, nil
}

func (r *Rows) status(of profile.Listed, m profile.Model, selected bool) oupwire.LlmModelStatus {
	m = r.Profiles.Settled(m)
	return oupwire.LlmModelStatus{
		Model: m.Model, Provider: m.Family, Title: m.Model, Family: m.Family, Route: wirejson.Some(route(m)), Selected: selected,
		Available: of.Available(m),
	}
}

// selection reads a model and the key that came with it.
//
// Rule: OUP-LLM-014.
func selection(call *rpc.Call, p oupwire.ProfileLlmUpsertParams) (m profile.Model, apiKey string, err error) {
	chosen := p.Selection.Route.Or(oupwire.LlmRoute{})
	m = profile.Model{Family: p.Selection.FamilyID, Model: p.Selection.ModelID.Or(""), Route: profile.Route{
		ID: chosen.RouteID.Or(""), Label: chosen.Label.Or(""), BaseURL: chosen.BaseURL.Or(""), Variable: chosen.APIKeyEnv.Or(""), Type: chosen.APIType.Or(""),
	}}
	raw, has := p.APIKey.Get()
	if !has {
		return m, "", nil
	}
	if json.Unmarshal(raw, &apiKey) == nil {
		return m, apiKey, nil
	}
	object, broken := oupwire.DecodeLlmApiKeyObject(raw)
	if broken != nil {
		return m, "", rpc.Fail(oupwire.ErrInvalidParams, call.Method+": api_key is neither a text nor an object with value, secret or api_key")
	}
	for _, member := range []wirejson.Opt[string]{object.Value, object.Secret, object.APIKey} {
		if apiKey = member.Or(""); apiKey != "" {
			break
		}
	}
	return m, apiKey, nil
}

var errNoModel = errors.New("selection.model_id is missing; name the model")

// changed answers a change with how things stand now.
func (r *Rows) changed(call *rpc.Call, applied bool) (oupwire.ProfileLlmMutationResult, error) {
	id := call.Scope.Profile
	configured, err := r.configured(id)
	return oupwire.ProfileLlmMutationResult{
		ProfileID: id, Primary: configured.Primary, Fallbacks: configured.Fallbacks, Llm: configured, RuntimePolicyStamp: r.stamp(id), Applied: applied,
	}, err
}

// upsert stores a model and its key.
func (r *Rows) upsert(_ context.Context, call *rpc.Call, p oupwire.ProfileLlmUpsertParams) (oupwire.ProfileLlmMutationResult, error) {
	var none oupwire.ProfileLlmMutationResult
	m, apiKey, err := selection(call, p)
	switch {
	case err != nil:
		return none, err
	case m.Model == "":
		return none, invalid(call, errNoModel)
	}
	if err := r.Profiles.Upsert(call.Scope.Profile, m, apiKey, p.SetPrimary.Or(false)); err != nil {
		return none, r.fail(call, err)
	}
	return r.changed(call, true)
}

// remove takes a model away.
func (r *Rows) remove(_ context.Context, call *rpc.Call, p oupwire.ProfileLlmDeleteParams) (oupwire.ProfileLlmMutationResult, error) {
	applied, err := r.Profiles.Delete(call.Scope.Profile, p.FamilyID, p.ModelID, p.RouteID)
	if err != nil {
		return oupwire.ProfileLlmMutationResult{}, r.fail(call, err)
	}
	return r.changed(call, applied)
}

// choose puts a configured model in front. A server that was started with a model keeps to that until it is started
// without.
//
// Rules: OUP-LLM-008 to OUP-LLM-011.
func (r *Rows) choose(_ context.Context, call *rpc.Call, p oupwire.ProfileLlmSelectParams) (oupwire.ProfileLlmSelectResult, error) {
	id := call.Scope.Profile
	m, err := r.Profiles.Select(id, p.ModelID, p.FamilyID.Or(""), p.RouteID.Or(""))
	if errors.Is(err, profile.ErrNotConfigured) {
		return oupwire.ProfileLlmSelectResult{}, notFound(call, "configured model", p.ModelID, err)
	}
	if err != nil {
		return oupwire.ProfileLlmSelectResult{}, r.fail(call, err)
	}
	listed, err := r.Profiles.List(id)
	if err != nil {
		return oupwire.ProfileLlmSelectResult{}, r.fail(call, err)
	}
	result := oupwire.ProfileLlmSelectResult{SessionID: p.SessionID, Selected: r.status(listed, m, true), Applied: true, RuntimePolicyStamp: r.stamp(id)}
	if r.Model != "" {
		result.RestartRequired = wirejson.Some(true)
	}
	return result, nil
}

// try asks a model for a word. Nothing is stored, and a failed try is an answer.
//
// Rules: OUP-LLM-006, OUP-LLM-007.
func (r *Rows) try(_ context.Context, call *rpc.Call, p oupwire.ProfileLlmUpsertParams) (wirejson.Encoder, error) {
	m, apiKey, err := selection(call, p)
	switch {
	case err != nil:
		return nil, err
	case m.Model == "":
		return nil, invalid(call, errNoModel)
	}
	id := call.Scope.Profile
	models, err := r.Models(id)
	if err != nil {
		return nil, err
	}
	call.Later(func(ctx context.Context) (wirejson.Encoder, error) {
		configured, err := r.configured(id)
		if err != nil {
			return nil, r.fail(call, err)
		}
		result := oupwire.ProfileLlmTestResult{
			ProfileID: id, Primary: configured.Primary, Fallbacks: configured.Fallbacks, Llm: configured, RuntimePolicyStamp: r.stamp(id),
		}
		if err := ask(ctx, models, m, apiKey); err != nil {
			result.Error = wirejson.Some(r.Profiles.Redact(id, err.Error(), apiKey))
			return result, nil
		}
		result.Applied, result.Message = true, wirejson.Some(m.Reference()+" answers")
		return result, nil
	})
	return nil, nil
}

// ask sends a model one short request.
func ask(ctx context.Context, models profile.Models, m profile.Model, apiKey string) error {
	ctx, cancel := context.WithTimeout(ctx, oupwire.LlmTestMs*time.Millisecond)
	defer cancel()
	provider, info, err := models.Serve(m, apiKey)
	if err != nil {
		return err
	}
	_, err = provider.Stream(ctx, model.Request{
		Model: info.Model, MaxOutputTokens: 16,
		Messages: []conversation.Message{{Role: conversation.User, Parts: []conversation.Part{{Kind: conversation.Text, Text: "Say: ok"}}}},
	}, func(model.Delta) {})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("no answer within %d ms", oupwire.LlmTestMs)
	}
	return err
}

// fetch asks a provider which models it has.
//
// Rule: OUP-LLM-013.
func (r *Rows) fetch(_ context.Context, call *rpc.Call, p oupwire.ProfileLlmUpsertParams) (wirejson.Encoder, error) {
	m, apiKey, err := selection(call, p)
	if err != nil {
		return nil, err
	}
	id := call.Scope.Profile
	models, err := r.Models(id)
	if err != nil {
		return nil, err
	}
	call.Later(func(ctx context.Context) (wirejson.Encoder, error) {
		result := oupwire.ProfileLlmFetchModelsResult{ProfileID: id, FamilyID: m.Family, Models: []string{}}
		request, err := models.Listing(ctx, m, apiKey)
		if errors.Is(err, profile.ErrNoKey) {
			result.Reason = wirejson.Some(oupwire.LlmFetchReasonNoAPIKey)
			return result, nil
		}
		if err == nil {
			result.Models, err = names(request)
		}
		if err != nil {
			result.Reason = wirejson.Some(oupwire.LlmFetchReasonProviderUnavailable)
		}
		return result, nil
	})
	return nil, nil
}

// maxListing bounds the answer of a provider.
const maxListing = 4 << 20

// names reads the list of models of a provider. The key goes to the address that was asked for and not where that
// one points.
func names(request *http.Request) ([]string, error) {
	client := &http.Client{Timeout: oupwire.LlmTestMs * time.Millisecond, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return []string{}, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return []string{}, fmt.Errorf("status %d", response.StatusCode)
	}
	var listing struct {
		Data []struct{ ID string }
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxListing)).Decode(&listing); err != nil {
		return []string{}, err
	}
	list := []string{}
	for _, one := range listing.Data {
		if one.ID != "" {
			list = append(list, one.ID)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
