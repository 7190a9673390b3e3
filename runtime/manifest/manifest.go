package manifest

import (
	"github.com/octet-dev/octet/generated/manifestdoc"
)

// Manifest is a legal manifest with every default filled in.
type Manifest struct {
	// Document is the manifest as it was written, without defaults.
	Document manifestdoc.Manifest

	Name, Version string
	API           string // the extension API version, which selects the wire
	RequiresOctet string // empty if absent
	Description   string
	Entrypoint    Entrypoint
	Capabilities  Capabilities
	Contributes   Contributes
	Runtime       Runtime
}

// Entrypoint says how to start the extension.
type Entrypoint struct {
	Command string
	Args    []string
	Env     map[string]string
}

// Capabilities say what the extension asks for. They enforce nothing.
type Capabilities struct {
	Filesystem       manifestdoc.FilesystemGrant
	Process, Network bool
	Secrets          []string
	Environment      []string
}

// Contributes says what the extension adds to the host.
type Contributes struct {
	Tools, Commands              []string
	Hooks                        []manifestdoc.Hook
	UI                           []manifestdoc.UiSurface
	Context                      bool
	ToolRenderers                []string
	Notifications, Confirmations bool
	Presentation, Menu           bool
	Providers                    bool
	Flags                        []manifestdoc.Flag
	Shortcuts                    []manifestdoc.Shortcut
}

// Runtime says how long the process lives and who shares it.
type Runtime struct {
	Lifecycle manifestdoc.RuntimeLifecycle // oneshot, however it was spelled
	Sharing   manifestdoc.RuntimeSharing
}

// Wire is the name of the wire that the API version speaks.
func (m *Manifest) Wire() string {
	for _, row := range manifestdoc.TableAPIWires {
		if row.Version == m.API {
			return row.Wire
		}
	}
	panic("the spec knows no wire of API " + m.API)
}

// resolve fills in the defaults of a document that has no error.
func resolve(document manifestdoc.Manifest) *Manifest {
	var none struct {
		capabilities manifestdoc.Capabilities
		contributes  manifestdoc.Contributes
		runtime      manifestdoc.Runtime
	}
	capabilities := document.Capabilities.Or(none.capabilities)
	contributes := document.Contributes.Or(none.contributes)
	runtime := document.Runtime.Or(none.runtime)
	m := &Manifest{
		Document:      document,
		Name:          document.Name,
		Version:       document.Version,
		API:           string(document.APIVersion),
		RequiresOctet: document.RequiresOctet.Or(""),
		Description:   document.Description.Or(""),
		Entrypoint: Entrypoint{
			Command: document.Entrypoint.Command,
			Args:    document.Entrypoint.Args.Or(nil),
			Env:     document.Entrypoint.Env.Or(nil),
		},
		Capabilities: Capabilities{
			Filesystem:  capabilities.Filesystem.Or(manifestdoc.FilesystemGrantNone),
			Process:     capabilities.Process.Or(false),
			Network:     capabilities.Network.Or(false),
			Secrets:     capabilities.Secrets.Or(nil),
			Environment: capabilities.Environment.Or(nil),
		},
		Contributes: Contributes{
			Tools:         contributes.Tools.Or(nil),
			Commands:      contributes.Commands.Or(nil),
			Hooks:         contributes.Hooks.Or(nil),
			UI:            contributes.UI.Or(nil),
			Context:       contributes.Context.Or(false),
			ToolRenderers: contributes.ToolRenderers.Or(nil),
			Notifications: contributes.Notifications.Or(false),
			Confirmations: contributes.Confirmations.Or(false),
			Presentation:  contributes.Presentation.Or(false),
			Menu:          contributes.Menu.Or(false),
			Providers:     contributes.Providers.Or(false),
			Flags:         contributes.Flags.Or(nil),
			Shortcuts:     contributes.Shortcuts.Or(nil),
		},
		Runtime: Runtime{
			Lifecycle: runtime.Lifecycle.Or(manifestdoc.RuntimeLifecycleLegacyResident),
			Sharing:   runtime.Sharing.Or(manifestdoc.RuntimeSharingIsolated),
		},
	}
	if m.Runtime.Lifecycle == manifestdoc.RuntimeLifecycleOneShot {
		m.Runtime.Lifecycle = manifestdoc.RuntimeLifecycleOneshot
	}
	return m
}
