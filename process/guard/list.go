package guard

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/process"
)

// maxLine bounds a line of the list: a tag holds a path.
const maxLine = 64 * 1024

// encode is one line: + or -, the key, the id, and the tag in quotes.
func encode(t process.Tree) []byte {
	sign := "+"
	if t.Gone {
		sign = "-"
	}
	return fmt.Appendf(nil, "%s %d %d %q\n", sign, t.Key, t.PID, t.Tag)
}

// decode reads such a line.
func decode(line string) (t process.Tree, ok bool) {
	part := strings.SplitN(line, " ", 4)
	if len(part) != 4 || part[0] != "+" && part[0] != "-" {
		return t, false
	}
	key, err1 := strconv.ParseUint(part[1], 10, 64)
	pid, err2 := strconv.ParseInt(part[2], 10, 32)
	tag, err3 := strconv.Unquote(part[3])
	// The ids 0 and 1 and negative ones stand for much more than one tree.
	if err1 != nil || err2 != nil || err3 != nil || pid < 0 || pid == 1 {
		return t, false
	}
	return process.Tree{Key: key, PID: int(pid), Tag: tag, Gone: part[0] == "-"}, true
}

// listen reads changes until the pipe ends and returns what is left then. The last line may be cut off by
// the death of the writer: nothing has been started by it.
func listen(r io.Reader) map[uint64]process.Tree {
	left := map[uint64]process.Tree{}
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return left
		}
		if t, ok := decode(strings.TrimSuffix(string(line), "\n")); ok {
			if t.Gone {
				delete(left, t.Key)
			} else {
				left[t.Key] = t
			}
		}
		if err != nil && err != bufio.ErrBufferFull {
			return left
		}
	}
}
