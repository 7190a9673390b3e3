package oupreferee

import (
	"slices"

	"github.com/octet-dev/octet/generated/oupwire"
)

// profilePhrases are about profiles and where a start leads. All profiles have names that nobody else gives.
func profilePhrases() []phrase {
	return []phrase{
		{`a profile(?: "([^"]+)")? for the run`, (*world).profileOfRun},
		{`a wish for an id is heard where its feature is negotiated alone`, (*world).wishHeard},
		{`a wish for the default is heard where its feature is negotiated alone`, (*world).defaultHeard},
		{`the launch names profiles as its decision says`, (*world).launchFits},
	}
}

// profileOfRun makes a profile and remembers its id. It is left behind: no request takes one away.
func (w *world) profileOfRun(name string) error {
	if err := w.alone(); err != nil {
		return err
	}
	if name == "" {
		name = "profile"
	}
	if err := w.serves(oupwire.MethodProfileLocalCreate); err != nil {
		return err
	}
	w.note()
	made := "conform-" + newID()[24:]
	r, err := w.call(w.cur, oupwire.MethodProfileLocalCreate, object{"name": made, "username": made})
	if err != nil {
		return err
	}
	if r.fault != nil {
		return missing("%s is refused: %s", oupwire.MethodProfileLocalCreate, short(r.fault))
	}
	w.answer = r
	return w.remembers("profile_id", "answer", name)
}

// wishHeard makes a profile whose only name is a wish for an id.
func (w *world) wishHeard() error {
	shown, err := w.advertised(oupwire.MethodConfigCapabilitiesList, object{}, listFeatures)
	if err != nil {
		return err
	}
	feature := oupwire.FeatureProfileLocalCreateRequestedIDV1
	wish := "conform-" + newID()[24:]
	w.note()
	r, err := w.call(w.cur, oupwire.MethodProfileLocalCreate, object{"requested_id": wish})
	if err != nil {
		return err
	}
	w.answer = r
	got, _ := at(r.result, "profile_id")
	switch negotiated := slices.Contains(shown, feature); {
	case negotiated && got != wish:
		return failed("the wish %q leads to %s, though %s is negotiated", wish, short(got), feature)
	case !negotiated && r.fault == nil:
		return failed("the wish %q leads to %s, though %s is not negotiated", wish, short(got), feature)
	}
	return nil
}

// defaultHeard makes a profile that wishes to be the default one, and looks where a start in a new folder leads.
func (w *world) defaultHeard() error {
	feature := oupwire.FeatureProfileLocalCreateDefaultV1
	shown, err := w.advertised(oupwire.MethodConfigCapabilitiesList, object{}, listFeatures)
	if err != nil {
		return err
	}
	name := "conform-" + newID()[24:]
	w.note()
	made, err := w.call(w.cur, oupwire.MethodProfileLocalCreate, object{"name": name, "username": name, "make_default": true})
	if err != nil {
		return err
	}
	if made.fault != nil {
		return missing("%s is refused: %s", oupwire.MethodProfileLocalCreate, short(made.fault))
	}
	id, _ := at(made.result, "profile_id")
	w.note()
	led, err := w.call(w.cur, oupwire.MethodLaunchResolve, object{"cwd": w.root})
	if err != nil {
		return err
	}
	w.answer = led
	if err := w.offered(led); err != nil {
		return err
	}
	resolved, _ := at(led.result, "resolved_profile")
	if negotiated := slices.Contains(shown, feature); negotiated != (resolved == id) {
		return failed("a start in a new folder leads to %s behind a wish for the default by %s; %s is negotiated: %t", short(resolved), short(id), feature, negotiated)
	}
	return nil
}

// launchFits compares what a launch names with what it decided.
func (w *world) launchFits() error {
	result, err := w.given()
	if err != nil {
		return err
	}
	decision, _ := at(result, "decision")
	resolved, _ := at(result, "resolved_profile")
	existing, _ := at(result, "existing_profiles")
	others, _ := existing.([]any)
	switch none, across := decision == string(oupwire.LaunchDecisionNoProfile), decision == string(oupwire.LaunchDecisionCrossProfile); {
	case none == (resolved != nil):
		return failed("%s decides %s and resolves the profile %s", w.asked, short(decision), short(resolved))
	case across && len(others) == 0:
		return failed("%s decides %s and names no profile that exists: %s", w.asked, short(decision), short(existing))
	case !across && existing != nil:
		return failed("%s decides %s and names profiles that exist: %s", w.asked, short(decision), short(existing))
	}
	return nil
}
