package oupreferee

import (
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// What turns do that have something go on in the background.
const (
	hasActivity   = "has something go on in the background"
	hasActivities = "has much go on in the background"
)

// activityPhrases are those about what goes on in the background.
func activityPhrases() []phrase {
	return []phrase{
		{`(something|much) goes on in the background`, (*world).goesOn},
		{`one activity says that there are more, and no other comes`, (*world).fallsSilent},
	}
}

func (w *world) goesOn(how string) error {
	kind := hasActivity
	if how == "much" {
		kind = hasActivities
	}
	return w.startsTurn(kind)
}

// fallsSilent waits for the activity that stands for those which are left out. In front of it are as many as one window
// has room for, and behind it none.
func (w *world) fallsSilent() error {
	from := w.cur.mark
	if _, _, err := w.seek(w.cur, from, oupwire.MethodBackgroundActivity, object{"suppressed": true}); err != nil {
		return noAnswer("no %s with suppressed comes within %s", oupwire.MethodBackgroundActivity, w.setup.Wait)
	}
	if err := w.fence(w.cur); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before, behind, silent := 0, 0, false
	for _, f := range w.cur.frames[from:] {
		params, _ := f.root["params"].(object)
		switch {
		case f.method() != oupwire.MethodBackgroundActivity:
		case silent:
			behind++
		case params["suppressed"] == true:
			silent = true
		default:
			before++
		}
	}
	if before != oupwire.MaxBackgroundRows || behind > 0 {
		return failed("%d activities come before the one that says that there are more, and %d behind it; want %d and none", before, behind, oupwire.MaxBackgroundRows)
	}
	return nil
}

// isCut reports whether a text of the letter x was cut for an activity, and says so.
func isCut(text string) bool {
	return text != "" && len(text) <= oupwire.MaxBackgroundTextBytes && strings.HasPrefix(text, "x") && !strings.HasSuffix(text, "x")
}
