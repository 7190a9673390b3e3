package bundle_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/octet-dev/octet/host/bundle"
)

// TestInstall_onADiskThatIsFull lets the writing of a large file fail: nothing of the bundle stays.
func TestInstall_onADiskThatIsFull(t *testing.T) {
	m := manager(t)
	install(t, m, sound()...)
	before := tree(t, m.Root)
	large := bundle.Source{Archive: save(t, archive(t, with(sound(), manifestWith("1.2.3", "1.3.0"), file("word-count/large", strings.Repeat("l", 2<<20)))...))}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	small := limit
	small.Cur = 1 << 20
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	_, err := m.Update(t.Context(), large)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	refused(t, err, "", "cannot be written", m.Root, "disk")
	if after := tree(t, m.Root); after != before {
		t.Errorf("something stays:\n%s\nbefore:\n%s", after, before)
	}
	if _, err := m.Update(t.Context(), large); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// TestInstall_givesItsModesWhateverTheMask is about the mask of the process. MAN-BUNDLE-015.
func TestInstall_givesItsModesWhateverTheMask(t *testing.T) {
	m := manager(t)
	if err := os.MkdirAll(m.Root, 0o700); err != nil {
		t.Fatal(err)
	}
	source := bundle.Source{Archive: save(t, archive(t, sound()...))}
	mask := syscall.Umask(0o777)
	_, err := m.Install(t.Context(), source)
	syscall.Umask(mask)
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"": os.ModeDir | 0o755, "docs": os.ModeDir | 0o755, "bin/run": 0o755, "docs/guide/read.md": 0o644, "install.json": 0o644} {
		info, err := os.Lstat(filepath.Join(m.Root, "word-count", name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != mode {
			t.Errorf("%s has mode %s, want %s", name, info.Mode(), mode)
		}
	}
}
