package oupreferee

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/octet-dev/octet/generated/oupwire"
)

// placePhrases are about folders, and about whom a server works for.
func placePhrases() []phrase {
	return []phrase{
		{`(\S+) with (\{.*\}) is for one person alone`, (*world).forOne},
		{`a folder for the run`, (*world).folderOfRun},
	}
}

// kindForOne is the kind of the error of what a server for one person alone carries out.
const kindForOne = "profile_local_unsupported"

// forOthers reports whether a request is refused because the server is not one person's.
func forOthers(fault object) bool {
	kind, _ := at(fault, "data.kind")
	return kind == kindForOne
}

// forOne makes a call that a server for one person alone carries out. Elsewhere it is refused, and is not listed.
func (w *world) forOne(method, params string) error {
	if err := w.calls(method, params); err != nil {
		return err
	}
	answer := w.answer
	if err := w.offered(answer); err != nil {
		return err
	}
	shown, err := w.advertised(oupwire.MethodConfigCapabilitiesList, object{}, listMethods)
	if err != nil {
		return err
	}
	listed := slices.Contains(shown, method)
	w.note()
	status, err := w.call(w.cur, oupwire.MethodSessionStatusRead, object{"session_id": w.vars["session"]})
	if err != nil {
		return err
	}
	mode, told := at(status.result, "runtime_policy_stamp.runtime_mode")
	if told && mode != string(oupwire.RuntimeModeSolo) {
		switch kind, _ := at(answer.fault, "data.kind"); {
		case answer.fault == nil:
			return failed("%s is carried out by a server that says %s of whom it serves", method, short(mode))
		case errorName(answer.fault) != oupwire.ErrPermissionDenied.Name || kind != kindForOne:
			return failed("%s is refused by a server that serves many with %s, want %s of kind %s", method, short(answer.fault), oupwire.ErrPermissionDenied.Name, kindForOne)
		case listed:
			return failed("%s is listed as supported by a server that says %s of whom it serves", method, short(mode))
		}
		return nil
	}
	if answer.fault != nil {
		return notApplicable("%s is refused: %s", method, short(answer.fault))
	}
	if got, _ := at(answer.result, "runtime_mode"); got != string(oupwire.RuntimeModeSolo) {
		return failed("%s says %s of whom the server works for, want %s", method, short(got), oupwire.RuntimeModeSolo)
	}
	return nil
}

// folderOfRun makes a folder with folders in it, some of which a list has to leave out, one with more than a list may
// have, and remembers their paths as "folder" and "full folder".
func (w *world) folderOfRun() error {
	if err := w.alone(); err != nil {
		return err
	}
	root, err := filepath.EvalSymlinks(w.root)
	if err != nil {
		return errored("%v", err)
	}
	if runtime.GOOS == "windows" || bannedRoot(root) {
		return notApplicable("no workspace may lie where temporary folders are")
	}
	folder, full := filepath.Join(root, "folder"), filepath.Join(root, "full")
	all := []string{"beta", "Alpha", "Gamma", ".hidden"}
	for i, name := range all {
		all[i] = filepath.Join(folder, name)
	}
	for i := range oupwire.MaxWorkspaceEntries + 1 {
		all = append(all, filepath.Join(full, fmt.Sprintf("folder-%04d", i)))
	}
	for _, path := range all {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return errored("%v", err)
		}
	}
	w.vars["folder"], w.vars["full folder"] = folder, full
	if err := os.WriteFile(filepath.Join(folder, "a-file"), nil, 0o600); err != nil {
		return errored("%v", err)
	}
	return nil
}

// bannedRoot reports whether a path lies where no workspace may.
func bannedRoot(path string) bool {
	return slices.ContainsFunc(oupwire.TableBannedWorkspaceRoots, func(top string) bool {
		inside, err := filepath.Rel(string(filepath.Separator)+top, path)
		return err == nil && filepath.IsLocal(inside)
	})
}
