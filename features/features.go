// Package features holds the promises that every implementation of the wires keeps, as Gherkin files.
//
// A file covers one area of one wire. Its scenarios speak of hosts and extensions, never of programs of
// this repository, and are tagged with the rules they prove and the API versions they bind.
package features

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"github.com/cucumber/godog"
)

//go:embed feature_wire/*.feature canonical_wire/*.feature
var files embed.FS

// HostFolder is where the promises of hosts are.
const HostFolder = "host_wire"

//go:embed host_wire/*.feature
var hostFiles embed.FS

// The folders of the promises of OUP servers and clients.
const (
	ServerFolder = "oup_server"
	ClientFolder = "oup_client"
)

//go:embed oup_server/*.feature oup_client/*.feature
var oupFiles embed.FS

// OUPFiles returns the feature files for OUP servers and clients, below ServerFolder and ClientFolder.
func OUPFiles() fs.FS { return oupFiles }

// ManifestFolder is where the promises of manifests are.
const ManifestFolder = "manifest_doc"

//go:embed manifest_doc/*.feature
var manifestFiles embed.FS

// ManifestFiles returns the feature files for manifests, below ManifestFolder.
func ManifestFiles() fs.FS { return manifestFiles }

// HostFiles returns the feature files for hosts, below HostFolder.
func HostFiles() fs.FS { return hostFiles }

// Files returns the feature files, below the folders feature_wire and canonical_wire.
func Files() fs.FS { return files }

// Scenario is one scenario, or one row of a scenario outline.
type Scenario struct {
	Name  string
	File  string // relative to the root of Files
	Line  int    // of the scenario or of the row
	Rules []string
	APIs  []string
	Steps []string
	Other []string // tags that are neither
}

// Key names a scenario uniquely.
func (s Scenario) Key() string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// Area is the file's name without folder and suffix.
func (s Scenario) Area() string {
	name := s.File[strings.LastIndexByte(s.File, '/')+1:]
	return strings.TrimSuffix(name, ".feature")
}

var (
	ruleTag = regexp.MustCompile(`^@([A-Z]+\d*-[A-Z]+-\d{3})$`)
	apiTag  = regexp.MustCompile(`^@(\d+\.\d+|v\d\w*)$`)
)

// Tags sorts a scenario's tags into rules and API versions. What is neither is returned last.
func Tags(tags []string) (rules, apis, other []string) {
	for _, tag := range tags {
		switch {
		case ruleTag.MatchString(tag):
			rules = append(rules, tag[1:])
		case apiTag.MatchString(tag):
			apis = append(apis, tag[1:])
		default:
			other = append(other, tag)
		}
	}
	return rules, apis, other
}

// Of reads a scenario as godog hands it out.
func Of(p *godog.Scenario) Scenario {
	s := Scenario{Name: p.Name, File: p.Uri}
	if p.Location != nil {
		s.Line = int(p.Location.Line)
	}
	var tags []string
	for _, t := range p.Tags {
		tags = append(tags, t.Name)
	}
	s.Rules, s.APIs, s.Other = Tags(tags)
	for _, step := range p.Steps {
		s.Steps = append(s.Steps, step.Text)
	}
	return s
}

// Scenarios lists every scenario for extensions in the order of files and lines.
var Scenarios = sync.OnceValues(func() ([]Scenario, error) { return scenarios(files, "feature_wire", "canonical_wire") })

// HostScenarios lists every scenario for hosts in the order of files and lines.
var HostScenarios = sync.OnceValues(func() ([]Scenario, error) { return scenarios(hostFiles, HostFolder) })

// ServerScenarios lists every scenario for OUP servers in the order of files and lines.
var ServerScenarios = sync.OnceValues(func() ([]Scenario, error) { return scenarios(oupFiles, ServerFolder) })

// ClientScenarios lists every scenario for OUP clients in the order of files and lines.
var ClientScenarios = sync.OnceValues(func() ([]Scenario, error) { return scenarios(oupFiles, ClientFolder) })

// ManifestScenarios lists every scenario for manifests in the order of files and lines.
var ManifestScenarios = sync.OnceValues(func() ([]Scenario, error) { return scenarios(manifestFiles, ManifestFolder) })

func scenarios(files fs.FS, folders ...string) ([]Scenario, error) {
	suite := godog.TestSuite{Options: &godog.Options{FS: files, Paths: folders}}
	parsed, err := suite.RetrieveFeatures()
	if err != nil {
		return nil, err
	}
	var all []Scenario
	for _, f := range parsed {
		for _, p := range f.Pickles {
			all = append(all, Of(p))
		}
	}
	return all, nil
}
