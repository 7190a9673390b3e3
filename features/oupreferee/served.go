package oupreferee

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// advertised are the words of a list in the capabilities that a request is answered with.
func (w *world) advertised(method string, params object, list string) ([]string, error) {
	w.note()
	r, err := w.call(w.cur, method, params)
	if err != nil {
		return nil, err
	}
	if r.fault != nil {
		return nil, missing("%s is refused: %s", method, short(r.fault))
	}
	shown, _ := at(r.result, "capabilities."+list)
	var names []string
	elements, _ := shown.([]any)
	for _, each := range elements {
		if name, is := each.(string); is {
			names = append(names, name)
		}
	}
	return names, nil
}

const (
	listFeatures = "supported_features"
	listMethods  = "supported_methods"
)

// serves leaves a scenario alone that is about a feature or method which a connection does not show.
func (w *world) serves(name string) error {
	list := listFeatures
	if oupwire.LookupRequest(name) != nil {
		list = listMethods
	}
	shown, err := w.advertised(oupwire.MethodConfigCapabilitiesList, object{}, list)
	if err != nil {
		return err
	}
	if !slices.Contains(shown, name) {
		return notApplicable("the server does not offer %s", name)
	}
	return nil
}

// knowsFeatures remembers features of the registry that a connection which names all of them shows, in the order of
// the registry. A server that serves fewer is not judged by what needs so many. Those that depend on others are no
// choice.
func (w *world) knowsFeatures(text string) error {
	shown, err := w.advertised(oupwire.MethodConfigCapabilitiesList, object{}, listFeatures)
	if err != nil {
		return err
	}
	served := slices.DeleteFunc(registry(), func(name string) bool {
		return !slices.Contains(shown, name) || len(oupwire.LookupFeature(name).DependsOn) > 0
	})
	names := strings.Split(text, ", ")
	if len(served) < len(names) {
		return notApplicable("the server serves %d features of the registry that depend on no other, and %d are needed", len(served), len(names))
	}
	for i, name := range names {
		w.vars[name] = served[i]
	}
	return nil
}

// streamFeatures looks whether a connection which has said nothing shows what the set of standard streams has, as far
// as the server serves it, which is what it shows to those who name everything.
func (w *world) streamFeatures() error {
	before, err := w.advertised(oupwire.MethodConfigCapabilitiesList, object{}, listFeatures)
	if err != nil {
		return err
	}
	served, err := w.advertised(oupwire.MethodClientHello, object{"supported_features": registry()}, listFeatures)
	if err != nil {
		return err
	}
	set := slices.DeleteFunc(registry(), func(name string) bool {
		return !slices.Contains(oupwire.LookupFeature(name).Sets, Stdio) || !slices.Contains(served, name)
	})
	if len(set) == 0 {
		return notApplicable("the server serves no feature of the set of standard streams")
	}
	for _, name := range set {
		if !slices.Contains(before, name) {
			return failed("the server serves %s, and it is not in force before client_hello: %s", name, strings.Join(before, ", "))
		}
	}
	return nil
}
