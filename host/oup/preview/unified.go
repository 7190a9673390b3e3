package preview

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/tool"
)

// Made is a change of a file that a tool has made, or is about to make: its difference is unified, or a bare list of
// lines with marks.
func Made(change tool.Change) oupwire.DiffFile {
	f := file(change.Path, oupwire.DiffFileStatusModified, change.Diff)
	hunks := f.Hunks.Or(nil)
	switch {
	case change.Kind == tool.Deleted:
		f.Status = oupwire.DiffFileStatusDeleted
	case change.Kind == tool.Created, len(hunks) > 0 && strings.HasPrefix(hunks[0].Header, "@@ -0,0 "):
		f.Status = oupwire.DiffFileStatusAdded
	}
	return f
}

// file reads a difference: hunks with numbered lines where they have headers, else one hunk without numbers.
func file(name string, status oupwire.DiffFileStatus, text string) oupwire.DiffFile {
	read := reader{}
	for line := range strings.Lines(text) {
		read.line(strings.TrimSuffix(line, "\n"))
	}
	read.close()
	f := oupwire.DiffFile{Path: Clean(name), Status: status}
	if len(read.hunks) > 0 {
		f.Hunks = wirejson.Some(read.hunks)
	}
	if read.cut {
		f.Unknown = []wirejson.Member{truncated}
	}
	return f
}

// truncated says that lines are missing at the end. Source: S67.
var truncated = wirejson.Member{Name: "truncated", Value: []byte("true")}

// reader takes a difference line by line.
type reader struct {
	hunks          []oupwire.DiffHunk
	header         string // of the hunk that is being read
	numbered, open bool
	old, new       int64 // numbers of the lines that come next
	oldLeft        int64 // lines that the header promises
	newLeft        int64
	lines          []oupwire.DiffLine
	cut            bool
}

func (r *reader) line(text string) {
	if r.cut {
		return
	}
	within := r.open && r.numbered && r.oldLeft+r.newLeft > 0
	switch {
	case within && text != "" && strings.ContainsRune(" +-", rune(text[0])):
		r.take(text)
	case strings.HasPrefix(text, "@@"):
		r.begin(text)
	case strings.HasPrefix(text, `\`): // tells that the last line does not end
	case !r.open && (strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "+++ ")):
	case within, text == "" || !strings.ContainsRune("+-", rune(text[0])):
		r.cut = r.open // the tools end what they cut with words of their own
	default:
		if !r.open {
			r.header, r.open = "@@", true
		}
		r.take(text)
	}
}

// begin reads a header such as "@@ -3,4 +3,5 @@".
func (r *reader) begin(header string) {
	r.close()
	r.header, r.open, r.numbered = header, true, false
	words := strings.Fields(header)
	if len(words) < 4 {
		return
	}
	var okOld, okNew bool
	r.old, r.oldLeft, okOld = extent(words[1], "-")
	r.new, r.newLeft, okNew = extent(words[2], "+")
	r.numbered = okOld && okNew
}

// extent reads where a side of a hunk begins and how many lines it has.
func extent(word, mark string) (from, count int64, ok bool) {
	word, ok = strings.CutPrefix(word, mark)
	first, second, has := strings.Cut(word, ",")
	from, err := strconv.ParseInt(first, 10, 32)
	count = 1
	if err == nil && has {
		count, err = strconv.ParseInt(second, 10, 32)
	}
	return from, count, ok && err == nil && from >= 0 && count >= 0
}

// take adds a line of the hunk.
func (r *reader) take(text string) {
	line := oupwire.DiffLine{Kind: oupwire.DiffLineKindContext, Content: strings.ToValidUTF8(text[1:], "\uFFFD")}
	old, new := true, true
	switch text[0] {
	case '+':
		line.Kind, old = oupwire.DiffLineKindAdded, false
	case '-':
		line.Kind, new = oupwire.DiffLineKindRemoved, false
	}
	if r.numbered && old {
		line.OldLine = wirejson.Some(r.old)
		r.old, r.oldLeft = r.old+1, r.oldLeft-1
	}
	if r.numbered && new {
		line.NewLine = wirejson.Some(r.new)
		r.new, r.newLeft = r.new+1, r.newLeft-1
	}
	r.lines = append(r.lines, line)
}

// close ends the hunk.
func (r *reader) close() {
	if r.open {
		hunk := oupwire.DiffHunk{Header: r.header}
		if len(r.lines) > 0 {
			hunk.Lines = wirejson.Some(r.lines)
		}
		r.hunks = append(r.hunks, hunk)
	}
	r.lines, r.open = nil, false
}

// Clean makes a path fit to be shown: nothing invisible or reversing is in it, and no step upwards.
//
// OUP-PREVIEW-002.
func Clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Cs, unicode.Co) {
			return -1
		}
		return r
	}, name)
	absolute := strings.HasPrefix(name, "/")
	name = path.Clean("/" + strings.ReplaceAll(name, `\`, "/"))
	if !absolute {
		name = name[1:]
	}
	return name
}

// fit cuts the lines of files so that their text is at most so long, and their JSON too, and marks those that
// were cut.
func fit(files []oupwire.DiffFile, text, encoded int) []oupwire.DiffFile {
	var out []oupwire.DiffFile
	for _, f := range files {
		whole := f.Hunks.Or(nil)
		f.Hunks = wirejson.Opt[[]oupwire.DiffHunk]{}
		if encoded -= len(f.AppendJSON(nil)) + len(`,"hunks":[],"truncated":true,`); encoded < 0 {
			break
		}
		var hunks []oupwire.DiffHunk
		cut := false
		for _, hunk := range whole {
			kept := hunk
			if kept.Lines, text, encoded, cut = fitLines(hunk, text, encoded); encoded >= 0 {
				hunks = append(hunks, kept)
			}
			if cut {
				break
			}
		}
		if len(hunks) > 0 {
			f.Hunks = wirejson.Some(hunks)
		}
		if cut && len(f.Unknown) == 0 {
			f.Unknown = []wirejson.Member{truncated}
		}
		out = append(out, f)
	}
	return out
}

// fitLines takes as many lines of a hunk as there is room for, and tells the room that is left.
func fitLines(hunk oupwire.DiffHunk, text, encoded int) (lines wirejson.Opt[[]oupwire.DiffLine], textLeft, encodedLeft int, cut bool) {
	var kept []oupwire.DiffLine
	encoded -= len(oupwire.DiffHunk{Header: hunk.Header}.AppendJSON(nil)) + len(`,"lines":[],`)
	for _, line := range hunk.Lines.Or(nil) {
		size := len(line.AppendJSON(nil)) + 1
		if len(line.Content) > text || size > encoded {
			cut = true
			break
		}
		text, encoded = text-len(line.Content), encoded-size
		kept = append(kept, line)
	}
	if len(kept) > 0 {
		lines = wirejson.Some(kept)
	}
	return lines, text, encoded, cut || encoded < 0
}
