package bundle

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// paths are the paths of an archive: each comes once, in one spelling, below one root.
type paths struct {
	root  string
	seen  map[string]known // by the spelling that systems which ignore case would see
	count int              // of entries
}

// known is a path that is taken.
type known struct {
	path      string
	directory bool
	entry     bool // it was named by an entry, not only as the parent of one
}

const rebuild = "build the archive again"

// add takes a path of an entry, and the directories above it.
func (p *paths) add(name string, directory bool) error {
	if p.count++; p.count > MaxEntries {
		return refuse("MAN-BUNDLE-002", "leave files out", "the archive has more than %d entries", MaxEntries)
	}
	if err := checkPath(name); err != nil {
		return err
	}
	root, _, below := strings.Cut(name, "/")
	switch {
	case p.root == "":
		p.root = root
	case p.root != root:
		return refuse("MAN-BUNDLE-007", "put everything below one directory that is called like the extension",
			"the archive has two roots, %q and %q", p.root, root)
	}
	if !below && !directory {
		return refuse("MAN-BUNDLE-007", "put everything below one directory that is called like the extension",
			"the root %q of the archive is not a directory", root)
	}
	for end := range name {
		if name[end] == '/' {
			if err := p.take(name[:end], true, false); err != nil {
				return err
			}
		}
	}
	return p.take(name, directory, true)
}

// take marks one path as taken.
func (p *paths) take(name string, directory, entry bool) error {
	if p.seen == nil {
		p.seen = map[string]known{}
	}
	key := fold(name)
	before, found := p.seen[key]
	switch {
	case !found:
		p.seen[key] = known{name, directory, entry}
		return nil
	case before.path != name:
		return refuse("MAN-BUNDLE-007", rebuild+" with names that differ in more than case",
			"the archive has two paths that some systems take for one, %q and %q", before.path, name)
	case entry && before.entry:
		return refuse("MAN-BUNDLE-007", rebuild, "the archive has the path %q twice", name)
	case before.directory != directory:
		return refuse("MAN-BUNDLE-007", rebuild, "the archive has %q as a file and as a directory", name)
	}
	before.entry = before.entry || entry
	p.seen[key] = before
	return nil
}

// named reports whether an entry has named a path.
func (p *paths) named(name string) bool {
	taken, found := p.seen[fold(name)]
	return found && taken.path == name && taken.entry
}

// fold is what a path is on a system that ignores case and how characters are composed.
func fold(name string) string { return cases.Fold().String(norm.NFD.String(name)) }

// checkPath wants a relative path of plain components that means the same everywhere.
func checkPath(name string) error {
	portable := func(why string) error {
		return refuse("MAN-BUNDLE-004", rebuild+" with plain relative paths", "the path %q of the archive %s", shortened(name), why)
	}
	switch {
	case !utf8.ValidString(name):
		return portable("is not UTF-8")
	case len(name) > MaxPathBytes:
		return refuse("MAN-BUNDLE-004", rebuild+" with shorter paths", "a path of the archive has %d bytes, at most %d are allowed", len(name), MaxPathBytes)
	case strings.ContainsFunc(name, unicode.IsControl):
		return portable("has a control character")
	case path.IsAbs(name):
		return portable("is absolute")
	case strings.ContainsAny(name, `\:`):
		return portable("has a backslash or colon, which names a drive or directory on some systems")
	case strings.Count(name, "/") >= MaxComponents:
		return refuse("MAN-BUNDLE-004", rebuild+" with flatter directories", "a path of the archive has %d components, at most %d are allowed",
			strings.Count(name, "/")+1, MaxComponents)
	}
	for component := range strings.SplitSeq(name, "/") {
		switch component {
		case "":
			return portable("has an empty component")
		case ".", "..":
			return portable("has the component " + component)
		}
		if len(component) > maxComponentBytes {
			return refuse("MAN-BUNDLE-004", rebuild+" with shorter names", "the path %q of the archive has a component of %d bytes, at most %d are allowed",
				shortened(name), len(component), maxComponentBytes)
		}
		if why := unportable(component); why != "" {
			return portable(why)
		}
	}
	return nil
}

// maxComponentBytes is what file systems keep of one name.
const maxComponentBytes = 255

// unportable says why a name cannot be one everywhere, or means something else; "" if it can.
func unportable(component string) string {
	switch last := component[len(component)-1]; {
	case last == '.' || last == ' ':
		return "has a component that ends with a dot or blank, which some systems drop"
	case strings.ContainsAny(component, `<>"|?*`):
		return `has one of <>"|?*, which some systems do not allow in names`
	}
	// A device keeps its name whatever extension follows it.
	base, _, _ := strings.Cut(component, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return "has the component " + shortened(component) + ", which is a device on some systems"
	}
	if number, found := strings.CutPrefix(base, "COM"); found && portNumber(number) {
		return "has the component " + shortened(component) + ", which is a device on some systems"
	}
	if number, found := strings.CutPrefix(base, "LPT"); found && portNumber(number) {
		return "has the component " + shortened(component) + ", which is a device on some systems"
	}
	return ""
}

// portNumber reports whether a text is the number of a port: one digit, which may be a superior one.
func portNumber(text string) bool {
	runes := []rune(text)
	return len(runes) == 1 && strings.ContainsRune("0123456789\u00b9\u00b2\u00b3", runes[0])
}

// shortened keeps the beginning of a path for a message.
func shortened(name string) string {
	const shown = 200
	if len(name) > shown {
		return name[:shown] + "..."
	}
	return name
}
