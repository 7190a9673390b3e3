package wirejson

import (
	"strings"
	"testing"
)

// texts are string contents by what a scan meets in them; each is about 10 KiB, "short" apart.
var texts = map[string]string{
	"short":    "workspace/a.go",
	"ascii":    strings.Repeat("0123456789 abcdef", 600),
	"lines":    strings.Repeat("\tif err != nil {\n\t\treturn \"a text\"\n\t}\n", 270),
	"european": strings.Repeat("Zwölf Boxkämpfer jagen Viktor. ", 310),
	"chinese":  strings.Repeat("天地玄黄宇宙洪荒", 430),
}

func BenchmarkParse(b *testing.B) {
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			src := AppendString([]byte(`{"text":`), text)
			src = append(src, '}')
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				d, err := Parse(src, DefaultMaxDepth)
				if err != nil {
					b.Fatal(err)
				}
				d.Release()
			}
		})
	}
}

func BenchmarkAppendString(b *testing.B) {
	var dst []byte
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendString(dst[:0], text)
			}
		})
	}
}

func BenchmarkAppendCanonical(b *testing.B) {
	var dst []byte
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			src := append(AppendString([]byte(`{"b":`), text), `,"a":0}`...) // out of order: written anew
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, err = AppendCanonical(dst[:0], src, DefaultMaxDepth); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
