package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/place"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

func (r *Rows) places() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodOnboardingWorkspaceProbe: rpc.Handle(oupwire.DecodeOnboardingWorkspaceProbeParams, r.probe),
		oupwire.MethodLaunchResolve:            rpc.Handle(oupwire.DecodeLaunchResolveParams, r.resolve),
	}
}

// probe tells of a path whether work could be done there; one that is not there is told of too.
//
// Rules: OUP-ONBOARD-002, OUP-ONBOARD-003, OUP-ONBOARD-007.
func (r *Rows) probe(_ context.Context, call *rpc.Call, p oupwire.OnboardingWorkspaceProbeParams) (oupwire.OnboardingWorkspaceProbeResult, error) {
	if strings.TrimSpace(p.Path) == "" {
		return oupwire.OnboardingWorkspaceProbeResult{}, noPath(call, "empty", "the path is blank; name one")
	}
	if len(p.Path) > maxPath {
		return oupwire.OnboardingWorkspaceProbeResult{}, noPath(call, "too_long", fmt.Sprintf("the path has %d bytes, at most %d", len(p.Path), maxPath))
	}
	expanded := place.Expand(p.Path, r.Home)
	result := oupwire.OnboardingWorkspaceProbeResult{
		RequestedPath: p.Path, ExpandedPath: expanded, CanonicalPath: wirejson.Null[string](), BannedRoot: wirejson.Null[string](),
		RuntimeMode: oupwire.RuntimeModeSolo, WorkspacePolicy: policyOf(""),
	}
	real := filepath.Clean(expanded)
	if filepath.IsAbs(expanded) && !strings.ContainsRune(expanded, 0) {
		if followed, err := filepath.EvalSymlinks(expanded); err == nil {
			real = followed
			result.CanonicalPath = wirejson.Some(real)
			info, err := os.Stat(real)
			result.Exists = err == nil
			result.IsDirectory = err == nil && info.IsDir()
		}
	}
	for _, path := range []string{filepath.Clean(expanded), real} {
		if root := r.banned(path); root != "" {
			result.RootEscape, result.BannedRoot = true, wirejson.Some(root)
		}
	}
	if result.IsDirectory && !result.RootEscape {
		result.Writable = writable(real)
		result.WorkspacePolicy = policyOf(real)
	}
	return result, nil
}

// banned is why no session that names a path works there: the directory of the system, or of the server, that it lies
// in or around. Empty: one may.
func (r *Rows) banned(path string) string {
	if root := place.Banned(path); root != "" {
		return root
	}
	own := r.House.Private()
	if own == "" || !filepath.IsAbs(path) {
		return ""
	}
	var near *place.Error
	if errors.As(place.Apart(path, own), &near) {
		return near.Banned
	}
	return ""
}

// maxPath bounds a path, in bytes: none of any system is longer.
const maxPath = 32 << 10

// noPath refuses what cannot be a path.
func noPath(call *rpc.Call, reason, message string) error {
	refusal := refuse(call, "workspace_probe_invalid_path", message)
	refusal.Data = oupwire.WorkspaceProbeInvalidPathErrorData{Reason: reason}
	return refusal
}

// policyOf looks at the policy of a workspace.
func policyOf(root string) oupwire.WorkspacePolicyProbe {
	probe := oupwire.WorkspacePolicyProbe{ParseError: wirejson.Null[string](), Kind: wirejson.Null[string]()}
	if root == "" {
		return probe
	}
	path := filepath.Join(root, oupwire.TableWorkspaceFiles[0].File)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPolicy {
		return probe
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return probe
	}
	probe.Present = true
	tree, wrong := tomltree.Parse(text)
	if len(wrong) > 0 {
		probe.ParseError = wirejson.Some(fmt.Sprintf("%d:%d: %s", wrong[0].Line, wrong[0].Column, wrong[0].Message))
		return probe
	}
	if m := tree.Get("kind"); m != nil && m.Value.Kind == tomltree.String {
		probe.Kind = wirejson.Some(m.Value.Text)
	}
	return probe
}

// maxPolicy bounds the file of a policy that is looked at.
const maxPolicy = 64 << 10

// resolve says whether there is a conversation in a folder that a client could go on with, and whose. It changes
// nothing.
//
// Rules: OUP-LAUNCH-001, OUP-LAUNCH-002, OUP-LAUNCH-003.
func (r *Rows) resolve(ctx context.Context, call *rpc.Call, p oupwire.LaunchResolveParams) (oupwire.LaunchResolveResult, error) {
	var result oupwire.LaunchResolveResult
	if !filepath.IsAbs(p.Cwd) {
		return result, rpc.Fail(oupwire.ErrInvalidParams, call.Method+": cwd is no absolute path; name one")
	}
	root := filepath.Clean(p.Cwd)
	if followed, err := filepath.EvalSymlinks(root); err == nil {
		root = followed
	}
	there, err := r.House.Store().List(ctx, session.Filter{Workspace: root, Keyed: true})
	if err != nil {
		return result, err
	}
	var owners []string // the one that was here last first
	for _, info := range there {
		if owner := house.Owner(info); !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
	}
	wanted := p.ProfileID.Or("")
	switch {
	case wanted == "" && len(owners) > 0:
		wanted = owners[0]
	case wanted == "":
		wanted = r.Profiles.Default()
	}
	result.ResolvedProfile = wirejson.Some(wanted)
	switch {
	case slices.Contains(owners, wanted):
		result.Decision = oupwire.LaunchDecisionResume
	case len(owners) > 0:
		result.Decision = oupwire.LaunchDecisionCrossProfile
		result.ExistingProfiles = wirejson.Some(owners)
	default:
		result.Decision = oupwire.LaunchDecisionActivate
	}
	return result, nil
}
