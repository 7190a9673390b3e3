package cli

import (
	"os"
	"path/filepath"
)

// dataVariable names the directory of octet's own data where it is not ~/.octet.
const dataVariable = "OCTET_DATA_DIR"

// dataDir is where octet keeps what it must not lose, "" if there is no place for it.
func dataDir() string {
	if dir := os.Getenv(dataVariable); dir != "" {
		if absolute, err := filepath.Abs(dir); err == nil {
			return absolute
		}
	}
	if home := machine().Home; filepath.IsAbs(home) {
		return filepath.Join(home, ".octet")
	}
	return ""
}

// storePath is the file of all sessions, "" if there is no place for it.
func storePath() string {
	if dir := dataDir(); dir != "" {
		return filepath.Join(dir, "sessions.db")
	}
	return ""
}
