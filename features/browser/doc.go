// Package browser drives Chromium for tests of our pages. It is empty without the build tag browser.
package browser
