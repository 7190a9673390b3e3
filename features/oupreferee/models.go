package oupreferee

import (
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// modelPhrases are about models of profiles. No provider is asked for anything: the models have no address, and the
// keys are made up.
func modelPhrases() []phrase {
	return []phrase{
		{`a model for the run`, (*world).modelOfRun},
		{`no key of the run was told`, (*world).keyKept},
	}
}

// modelOfRun stores a model without a key in a profile of the run, and remembers its family and a key for others. A
// server that takes models of families that it knows alone is not judged.
func (w *world) modelOfRun() error {
	if err := w.profileOfRun(""); err != nil {
		return err
	}
	if err := w.serves(oupwire.MethodProfileLlmUpsert); err != nil {
		return err
	}
	unique := newID()[24:]
	w.vars["family"], w.vars["key"], w.vars["variable"] = "conform-"+unique, "sk-conform-"+newID(), "CONFORM_"+strings.ToUpper(unique)
	w.note()
	r, err := w.call(w.cur, oupwire.MethodProfileLlmUpsert, object{"profile_id": w.vars["profile"], "selection": object{
		"family_id": w.vars["family"], "model_id": "one", "route": object{"route_id": "first", "api_key_env": w.vars["variable"]},
	}})
	if err != nil {
		return err
	}
	if r.fault != nil {
		return notApplicable("the server does not store a model of a family that is made up: %s", short(r.fault))
	}
	w.answer = r
	return nil
}

// keyKept looks for the key in all that the server has told its clients, and its operator.
func (w *world) keyKept() error {
	key, _ := w.vars["key"].(string)
	w.mu.Lock()
	for _, c := range w.clients {
		for _, f := range c.frames {
			if strings.Contains(string(encode(f.root)), key) {
				w.mu.Unlock()
				return failed("a frame of the server has a key in it: %s", strings.ReplaceAll(short(f.root), key, "KEY"))
			}
		}
	}
	w.mu.Unlock()
	if _, said := w.server.Ended(); strings.Contains(said, key) {
		return failed("the server writes a key to its standard error")
	}
	return nil
}
