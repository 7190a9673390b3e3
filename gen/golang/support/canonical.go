package wirejson

// appendCanonical appends the canonical spelling of the value at: members ascending by the bytes of
// their names, no white space, one spelling per character. Numbers keep their spelling.
func (d *Document) appendCanonical(dst []byte, at uint32) []byte {
	n := &d.nodes[at]
	if n.canonical {
		return append(dst, Value{d, at}.Source()...)
	}
	switch n.kind {
	case KindString:
		return AppendString(dst, d.text(n, 0))
	case KindArray:
		dst = append(dst, '[')
		for i := at + 1; i < n.next; i = d.nodes[i].next {
			if i > at+1 {
				dst = append(dst, ',')
			}
			dst = d.appendCanonical(dst, i)
		}
		return append(dst, ']')
	case KindObject:
		base := len(d.keys)
		dst = append(dst, '{')
		for i, key := range d.sortedKeys(at, 0) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, d.text(&d.nodes[key], 0))
			dst = append(dst, ':')
			dst = d.appendCanonical(dst, key+1)
		}
		d.keys = d.keys[:base]
		return append(dst, '}')
	default:
		return append(dst, d.src[n.start:n.end]...)
	}
}

// encodedLen returns the length of the canonical spelling of the value at.
func (d *Document) encodedLen(at uint32) int {
	n := &d.nodes[at]
	if n.canonical {
		return len(Value{d, at}.Source())
	}
	switch n.kind {
	case KindString:
		return stringLen(d.text(n, 0))
	case KindArray, KindObject:
		// Brackets, a comma or colon behind every node but the last.
		length, count := 2, 0
		for i := at + 1; i < n.next; i = d.nodes[i].next {
			length += d.encodedLen(i)
			count++
		}
		return length + max(count-1, 0)
	default:
		return int(n.end - n.start)
	}
}

// AppendCanonical appends the canonical spelling of the JSON text src to dst. The error is a
// *SyntaxError; dst is returned as it was then.
func AppendCanonical(dst, src []byte, maxDepth int) ([]byte, error) {
	d, err := Parse(src, maxDepth)
	if err != nil {
		return dst, err
	}
	defer d.Release()
	return d.appendCanonical(dst, 0), nil
}
