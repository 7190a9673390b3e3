package registry

import (
	"context"

	"github.com/octet-dev/octet/host/model"
)

// Fit makes a provider keep to what is known of a model: parts that the model cannot take become texts,
// and what an answer has cost is worked out where a price is known.
func Fit(provider model.Provider, info model.Info) model.Provider {
	return &fitted{Provider: provider, info: info}
}

type fitted struct {
	model.Provider
	info model.Info
}

func (f *fitted) Stream(ctx context.Context, request model.Request, emit func(model.Delta)) (*model.Response, error) {
	if request.Model != f.info.Model {
		return f.Provider.Stream(ctx, request, emit)
	}
	request.Messages = model.Present(request.Messages, f.info.Input)
	response, err := f.Provider.Stream(ctx, request, emit)
	if err == nil && response.UsageKnown && response.Usage.CostMicrodollars == nil && f.info.Price != nil {
		cost := f.info.Price.Cost(response.Usage)
		response.Usage.CostMicrodollars = &cost
	}
	return response, err
}
