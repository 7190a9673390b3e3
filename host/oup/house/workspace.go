package house

import (
	"fmt"
	"os"
	"path/filepath"
)

// folder is where the path of a folder leads.
func folder(path string) (string, error) {
	real, err := filepath.Abs(path)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("workspace %q is no folder; name the one that holds it", path)
	}
	return real, nil
}
