package extension

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// scratchVariable names the directory in which a host leaves what is too large for a line.
var scratchVariable = featurewire.TableWireEnvironment[5].Variable

// filedResult is a result that may come as a file.
type filedResult struct {
	model  string
	member string // describes the file
	value  string // the member that the content becomes; empty where the content is the whole result
}

var filedResults = map[string]filedResult{
	featurewire.MethodCompositionContext: {"CompositionContextResult", "context_file", ""},
	featurewire.MethodCompositionCall:    {"CompositionCallResult", "value_file", "value"},
}

// unfiled has accept see a result as if it stood in the line, also where the host has put it into a file of the
// scratch directory (EXT04-NEST-004). That file is gone afterwards, whatever is wrong with it.
func unfiled(m *wirejson.Method, accept func([]byte) error) func([]byte) error {
	filed, may := filedResults[m.Name]
	if !may {
		return accept
	}
	return func(result []byte) error {
		document, err := wirejson.Parse(result, featurewire.MaxDepth)
		if err != nil {
			return err
		}
		defer document.Release()
		named := document.Root().Member(filed.member)
		if named.Kind() == wirejson.KindInvalid {
			return accept(result)
		}
		if _, err := featurewire.DecodeAny(filed.model, result); err != nil {
			discard(named.Member("path").Text())
			return err
		}
		file, err := featurewire.DecodeScratchFileValue(named)
		if err != nil {
			return err
		}
		return filed.take(file, accept)
	}
}

// take reads a file and hands its content on as a result. What breaks the model lies where it would lie in a
// result that came in the line.
func (f filedResult) take(file featurewire.ScratchFile, accept func([]byte) error) error {
	content, bad := takeFile(file)
	if bad != nil {
		return f.fault(file, "/"+f.member+bad.pointer, bad.kind, bad.detail)
	}
	depth := featurewire.MaxDepth
	if f.value != "" {
		depth-- // the member adds a level
	}
	document, err := wirejson.Parse(content, depth)
	var syntax *wirejson.SyntaxError
	if errors.As(err, &syntax) {
		return f.fault(file, "/"+f.member, wirejson.WrongValue,
			"is no strict JSON from byte "+strconv.Itoa(syntax.Offset)+" on; the host must write one strict JSON value")
	}
	again := document.Root().Member(f.member).Kind() != wirejson.KindInvalid
	document.Release()
	if f.value != "" {
		content = append(append([]byte(`{"`+f.value+`":`), content...), '}')
	} else if again {
		return f.fault(file, "/"+f.member, wirejson.Forbidden, "refers to another file; the host must write the record itself")
	}
	err = accept(content)
	var broken *wirejson.Violation
	if errors.As(err, &broken) {
		return f.fault(file, broken.Pointer, broken.Kind, "breaks the model "+f.model+" there; the host must write what the model says")
	}
	return err
}

// fault is a violation that names the file and nothing of what it holds.
func (f filedResult) fault(file featurewire.ScratchFile, pointer string, kind wirejson.ViolationKind, detail string) *wirejson.Violation {
	return &wirejson.Violation{Kind: kind, Pointer: pointer, Model: f.model, Detail: "the file " + strconv.Quote(file.Path) + " " + detail}
}

// badFile says which member of a description a file does not fit, and what to do.
type badFile struct {
	pointer string
	kind    wirejson.ViolationKind
	detail  string
}

// takeFile reads a file of the scratch directory, checks it and removes it.
func takeFile(file featurewire.ScratchFile) ([]byte, *badFile) {
	wrong := func(pointer, detail string) ([]byte, *badFile) {
		return nil, &badFile{pointer, wirejson.WrongValue, detail}
	}
	if !isFlat(file.Path) {
		return nil, &badFile{"/path", wirejson.WrongClass, "is named outside the scratch directory; the host must give the name of a file in it"}
	}
	root, err := openScratch()
	if err != nil {
		return wrong("/path", "cannot be read, because "+scratchVariable+" names no directory; run under a host that sets it")
	}
	defer func() { _ = root.Close() }()
	defer removeFile(root, file.Path)
	named, err := root.Lstat(file.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wrong("/path", "is not in the scratch directory; the host must write it before it answers")
	case err != nil || !named.Mode().IsRegular():
		return wrong("/path", "is no regular file; the host must write a file there, and no link")
	}
	opened, err := root.Open(file.Path)
	if err != nil {
		return wrong("/path", "cannot be opened; the host must let the extension read it")
	}
	defer func() { _ = opened.Close() }()
	// A link that has taken the place of the file since would lead to another one.
	if info, err := opened.Stat(); err != nil || !os.SameFile(named, info) {
		return wrong("/path", "was replaced while it was opened; the host must leave it alone once it has answered")
	}
	if named.Size() != file.Bytes {
		return wrong("/bytes", "has "+strconv.FormatInt(named.Size(), 10)+" bytes and not "+strconv.FormatInt(file.Bytes, 10)+"; the host must tell its exact size")
	}
	content := make([]byte, file.Bytes)
	if _, err := io.ReadFull(opened, content); err != nil {
		return wrong("/bytes", "ends before its size; the host must leave it alone once it has answered")
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != file.Sha256 {
		return wrong("/sha256", "has another SHA-256 digest; the host must tell that of its content")
	}
	if !utf8.Valid(content) {
		return wrong("", "is not UTF-8; the host must write JSON in UTF-8")
	}
	return content, nil
}

// isFlat reports whether a name that keeps the wire's class stands for an entry of a directory.
func isFlat(name string) bool {
	_, err := featurewire.DecodeAny("FlatName", wirejson.AppendString(nil, name))
	return err == nil && name != "." && name != ".."
}

// openScratch opens the scratch directory; one that has no name does not exist.
func openScratch() (*os.Root, error) { return os.OpenRoot(os.Getenv(scratchVariable)) }

// discard removes a file whose description breaks its model, where that names one at all.
func discard(name string) {
	if !isFlat(name) {
		return
	}
	if root, err := openScratch(); err == nil {
		removeFile(root, name)
		_ = root.Close()
	}
}

// removeFile removes a file or a link. What cannot be removed goes with the directory, when its host is done.
func removeFile(root *os.Root, name string) {
	if info, err := root.Lstat(name); err == nil && !info.IsDir() {
		_ = root.Remove(name)
	}
}
