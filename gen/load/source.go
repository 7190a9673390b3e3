package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
	"github.com/octet-dev/octet/gen/located"
)

// maxDepth bounds the nesting of a spec file.
const maxDepth = 64

// node is one value of a spec file together with its place. The zero node is an absent value; reading it
// gives zero values, so that a loader can go on behind a fault that was already reported.
type node struct {
	file    string
	pointer string
	value   wirejson.Value
}

func (n node) exists() bool { return n.value.Kind() != wirejson.KindInvalid }

func (n node) at(name string) string { return n.pointer + "/" + wirejson.EscapePointer(name) }

func (n node) get(name string) node {
	return node{n.file, n.at(name), n.value.Member(name)}
}

func (n node) has(name string) bool { return n.get(name).exists() }

func (n node) text(name string) string { return n.value.Member(name).Text() }

func (n node) flag(name string) bool { return n.value.Member(name).Bool() }

func (n node) isText() bool { return n.value.Kind() == wirejson.KindString }

// member is a named node.
type member struct {
	name string
	node
}

func (n node) members() []member {
	var list []member
	for c := n.value.Members(); c.Next(); {
		name := string(c.Key())
		list = append(list, member{name, node{n.file, n.at(name), c.Value()}})
	}
	return list
}

func (n node) items() []node {
	var list []node
	for c := n.value.Elements(); c.Next(); {
		list = append(list, node{n.file, n.at(itoa(len(list))), c.Value()})
	}
	return list
}

func (n node) texts(name string) []string {
	var list []string
	for c := n.value.Member(name).Elements(); c.Next(); {
		v := c.Value()
		list = append(list, v.Text())
	}
	return list
}

// source reads spec files, each once.
type source struct {
	fsys  fs.FS
	files map[string]node
	errs  *located.List
}

// read returns the root of a file, or an absent node after reporting why.
func (s *source) read(name string) node {
	if n, ok := s.files[name]; ok {
		return n
	}
	n := node{file: name}
	if data, err := readFile(s.fsys, name); err != nil {
		s.errs.Addf(name, "", "%s", reason(err, "add the file or stop naming it"))
	} else if doc, err := wirejson.Parse(data, maxDepth); err != nil {
		s.errs.Addf(name, "", "no strict JSON: %s", inLines(data, err))
	} else {
		n.value = doc.Root()
		s.checkNumbers(n)
		if !strings.HasPrefix(name, vectorsFolder) {
			s.checkTexts(n)
		}
	}
	s.files[name] = n
	return n
}

// checkNumbers reports every number that not all languages read as the same integer: the spec has no
// other use for numbers, and the model holds them as int64. What a vector negotiates about is an input,
// which may be as wrong as it likes.
func (s *source) checkNumbers(n node) {
	switch n.value.Kind() {
	case wirejson.KindNumber:
		i, err := strconv.ParseInt(string(n.value.Source()), 10, 64)
		if err != nil || i < -defaultInteger || i > defaultInteger {
			s.errs.Addf(n.file, n.pointer, "%q is no integer from %d to %d; write one without fraction and exponent",
				n.value.Source(), -defaultInteger, defaultInteger)
		}
	case wirejson.KindObject:
		vector := strings.HasPrefix(n.file, vectorsFolder)
		for _, m := range n.members() {
			if vector && (m.name == "offer" || m.name == "selection") {
				continue
			}
			s.checkNumbers(m.node)
		}
	case wirejson.KindArray:
		for _, item := range n.items() {
			s.checkNumbers(item)
		}
	}
}

// checkTexts reports every text with a character that does not belong into a source file or a document.
func (s *source) checkTexts(n node) {
	switch n.value.Kind() {
	case wirejson.KindString:
		for _, c := range n.value.Text() {
			if unicode.IsControl(c) && c != '\n' && c != '\t' || c == '\u2028' || c == '\u2029' {
				s.errs.Addf(n.file, n.pointer, "the text holds %U; write it without control characters", c)
				return
			}
		}
	case wirejson.KindObject:
		for _, m := range n.members() {
			s.checkTexts(m.node)
		}
	case wirejson.KindArray:
		for _, item := range n.items() {
			s.checkTexts(item)
		}
	}
}

// inLines says where a text breaks in the terms of an editor.
func inLines(data []byte, err error) string {
	var syntax *wirejson.SyntaxError
	if !errors.As(err, &syntax) {
		return err.Error()
	}
	line := 1 + bytes.Count(data[:syntax.Offset], []byte("\n"))
	return fmt.Sprintf("line %d: %s", line, syntax.Detail)
}

// maxFile bounds the bytes of a spec file.
const maxFile = 16 << 20

var (
	errIrregular = errors.New("is no regular file; put a regular file in its place")
	errTooLarge  = fmt.Errorf("is larger than %d bytes; split it", maxFile)
)

// readFile returns the bytes of a regular file. It opens nothing else: a pipe would wait for a writer,
// and a device need not end.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, errTooLarge
	}
	return data, nil
}

// reason says why a file cannot be used and what helps; absent is the remedy for one that is not there.
func reason(err error, absent string) string {
	if errors.Is(err, errIrregular) || errors.Is(err, errTooLarge) {
		return err.Error()
	}
	remedy := "make it a readable regular file under spec/"
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err, remedy = fs.ErrNotExist, absent // the same words on every system
	case errors.As(err, &at):
		err = at.Err
	}
	return fmt.Sprintf("cannot be read (%v); %s", err, remedy)
}

// list returns the JSON files that make up the spec, ascending; the meta-schemas and the generated
// reference are not among them.
func (s *source) list() []string {
	var names []string
	err := fs.WalkDir(s.fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (name == metaFolder || name == "reference") {
			return fs.SkipDir
		}
		if !entry.IsDir() && path.Ext(name) == ".json" {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		s.errs.Addf(".", "", "cannot be listed (%v)", err)
	}
	return names
}
