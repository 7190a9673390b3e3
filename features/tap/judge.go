package tap

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/hostmonitor"
	"github.com/octet-dev/octet/features/monitor"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// Finding is a broken rule and who broke it.
type Finding struct {
	By wire.Lane // ToSubject: the host
	verdict.Finding
}

// Judge judges both sides of a conversation that somebody else holds. It learns the API version from
// initialize, and judges what came in front of it then.
type Judge struct {
	api     string // empty until initialize was seen
	host    *hostmonitor.Monitor
	subject *monitor.Monitor
	seen    [2]int // findings told so far, by lane
	early   []wire.Frame
	waited  int    // frames of the host that came and did not say which version is spoken
	strange string // version that one of them named, and that cannot be judged
}

// maxEarly bounds the frames that are kept until the version is known.
const maxEarly = 64

// API is the version of the conversation, empty while it is unknown or is none that can be judged.
func (j *Judge) API() string { return j.api }

// Unjudged says why nothing was judged, in words; empty once something is.
func (j *Judge) Unjudged() string {
	switch {
	case j.host != nil:
		return ""
	case j.strange != "":
		return fmt.Sprintf("the host asks for API version %s, and those that can be judged are %s", wire.Printable([]byte(strconv.Quote(j.strange)), 80), strings.Join(dialect.Versions(), ", "))
	case j.waited == 0:
		return "the host sent no frame"
	}
	return fmt.Sprintf("no initialize with an api_version is among the frames of the host, of which there were %d", j.waited)
}

// Observe takes the next frame and returns what it breaks.
func (j *Judge) Observe(f wire.Frame) []Finding {
	if j.host == nil && !j.begin(f) {
		if len(j.early) < maxEarly {
			j.early = append(j.early, f)
		}
		return nil
	}
	for _, each := range append(j.early, f) {
		j.host.Observe(each)
		j.subject.Observe(each)
	}
	j.early = nil
	return append(j.fresh(wire.ToSubject, j.host.Findings()), j.fresh(wire.FromSubject, j.subject.Findings())...)
}

func (j *Judge) fresh(by wire.Lane, all []verdict.Finding) []Finding {
	var out []Finding
	for _, f := range all[j.seen[by]:] {
		out = append(out, Finding{By: by, Finding: f})
	}
	j.seen[by] = len(all)
	return out
}

// InputEnded says that the host has closed the extension's input.
func (j *Judge) InputEnded() {
	if j.subject != nil {
		j.subject.InputEnded()
	}
}

// begin makes the monitors, once a frame says which version is spoken.
func (j *Judge) begin(f wire.Frame) bool {
	var first struct {
		Params struct {
			API       string `json:"api_version"`
			Workspace string `json:"workspace"`
			Extension struct {
				Name         string `json:"name"`
				Version      string `json:"version"`
				ManifestPath string `json:"manifest_path"`
			} `json:"extension"`
			Capabilities dialect.Object `json:"capabilities"`
			Contributes  dialect.Object `json:"contributes"`
		} `json:"params"`
	}
	if f.Lane != wire.ToSubject {
		return false
	}
	if json.Unmarshal(f.Bytes, &first) != nil {
		j.waited++
		return false
	}
	d, err := dialect.For(first.Params.API)
	if err != nil {
		j.waited++
		j.strange = cmp.Or(first.Params.API, j.strange)
		return false
	}
	j.api = d.API()
	j.host = hostmonitor.New(d)
	x := first.Params.Extension
	j.subject = monitor.New(monitor.Setup{Dialect: d, Extension: dialect.Extension{
		Name: x.Name, Version: x.Version, ManifestPath: x.ManifestPath, Workspace: first.Params.Workspace,
		Capabilities: dialect.Grants(first.Params.Capabilities), Contributes: dialect.Contributions(first.Params.Contributes),
	}})
	return true
}
