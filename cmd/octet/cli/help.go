package cli

// exitCodes are those of most commands, in order; a command with one of its own puts it between the two parts.
const exitCodes = ownExitCodes + signalExitCodes

const ownExitCodes = `Exit codes:
  0    done
  1    what was asked for was not done: the model or a tool failed, a hook or a limit stopped it, the manifest has
       errors, or sessions cannot be read or written
  2    the command line is wrong: unknown command, flag, tool or argument; or the configuration is
  3    the extension could not be started, or broke the protocol
  4    the extension did not answer in time
`

const signalExitCodes = `  130  interrupted; 128 and its number after another signal
  141  nobody reads standard output any more
`

// helpRoot is followed by the options, by the flags of extensions and by the exit codes.
const helpRoot = `octet is a coding agent: you say what you want done, a model does it with tools, and extensions bring more tools.

Usage:
  octet                                             hold a conversation here, line by line
  octet -p PROMPT                                   take one prompt to its end and print the answer
  octet tool call DIR TOOL [--arg name=value ...]   call one tool of an extension
  octet extension list                              show which extensions and bundles there are, and which would start
  octet extension install|update|remove             install a bundle from an archive or a release, replace it, remove it
  octet extension inspect DIR [--no-start]          show what an extension is and offers
  octet extension new NAME --lang LANGUAGE          write a new extension, in Go, Python or TypeScript
  octet sessions list|show|export|delete            look at stored conversations
  octet config                                      show the configuration that counts, and where it comes from
  octet doctor                                      examine whether this machine is fit for octet
  octet serve --stdio|--listen HOST:PORT            let other programs drive octet over OUP: sessions, turns, approvals
  octet auth issue-work-secret|revoke-work-secret   give a client of octet serve a secret for one session, take it back
  octet host                                        let a program embed octet: JSON lines over standard input and output
  octet completion bash|zsh|fish                    print a script that completes in a shell
  octet --version                                   show the release and the octet version it implements

Examples:
  octet --model anthropic:claude-sonnet-4-5         talk about the code in this directory; /help explains
  octet --continue                                  go on where you left off here
  octet -p 'which tests fail, and why?'             one answer, for a script
  octet -p - --output stream-json < prompt.txt      everything that happens, one JSON object a line
  octet --effect-policy controlled                  be asked before anything is written or run
  octet --enable-extension word-count               with the tools of an extension
  octet tool call ./word-count count --arg text="one two three"

Every command explains itself: octet tool call --help.
`

const helpGlobals = `  --workspace DIR            where the work is; OCTET_WORKSPACE or the current directory by default
  --workspace-trusted        count the configuration and the extensions of the workspace; also --trust-workspace
  --extension-dir DIR        look for extensions in DIR too; give it several times, the last one wins
  --enable-extension NAME    switch extensions on for this run; takes several names and comma lists
  --trust-extension NAME     trust extensions for this run, without switching them on; takes the same
  --effect-policy POLICY     unsafe_host (default), controlled or controlled_bash_approval; extensions start under
                             the first one alone
  --safe-mode                ask before every command and file change, and start no extensions
  --no-process, --no-shell   start no processes, and so no extensions; both mean the same
  --allow-shell              allow shell commands whatever the configuration says
  --strict-config            take unknown keys of the configuration for errors
`

const helpTool = `octet tool calls the tools of an extension.

Usage:
  octet tool call DIR TOOL [--arg name=value ...]

See octet tool call --help.
`

const helpExtension = `octet extension looks at extensions, writes new ones, and installs bundles of them.

Usage:
  octet extension list                       show which extensions and bundles there are, and which would start
  octet extension install NAME|--path FILE   install a bundle
  octet extension update NAME|--path FILE    replace a bundle by another version
  octet extension remove NAME                remove a bundle
  octet extension inspect DIR [--no-start]   show what one extension is and offers
  octet extension new NAME --lang LANGUAGE   write a new one, in Go, Python or TypeScript

Each explains itself: octet extension list --help.
`

const helpExtensionList = `octet extension list shows the extensions of this machine: where each was discovered, whether it is enabled,
what it is trusted on, and whether an ordinary start would start it or why not. Behind them stands a table of the bundles
that are installed, its columns separated by tabs. It starts nothing itself.

Usage:
  octet extension list [options]

Options:
  --bundles                  print the table of bundles alone
` + helpGlobals + `  --json, --output json      print everything as JSON, diagnostics included
  -h, --help                 show this text

Extensions are directories with an extension.toml, below ~/.octet/extensions, below .octet/extensions of a trusted
workspace, and below every --extension-dir; of several with one name the last one counts. A broken one is told of on
standard error and hinders nothing else.

Examples:
  octet extension list
  octet extension list --workspace-trusted --enable-extension word-count
  octet extension list --json

` + exitCodes

const helpConfig = `octet config shows every key of the configuration with the value that counts and the place that it comes from.

Usage:
  octet config [options]

Options:
` + helpGlobals + `  --json, --output json      print everything as JSON, with the variable and the meaning of each key
  -h, --help                 show this text

From weak to strong: defaults, ~/.octet/config.toml, .octet/config.toml of a trusted workspace, which can only tighten,
variables of the environment, options.

Examples:
  octet config
  octet config --workspace-trusted --json

` + exitCodes

const helpToolCall = `octet tool call starts the extension in DIR, calls TOOL, prints the result, and ends the extension.
There is no conversation: what needs one is not offered to the extension, and questions are answered with no.

Usage:
  octet tool call DIR TOOL [--arg name=value ... | --json OBJECT] [flags]

Arguments of the tool:
  --arg name=value   one argument, typed by the tool's own schema: text where it wants text, a number where it
                     wants a number, JSON where it wants an object; give it several times to make a list
  --json OBJECT      all arguments as one JSON object

Flags:
  --flag name=value  a flag that the manifest declares; a boolean by its name alone, or as no-name
  --output FORMAT    text (default) or json: an object with content, is_error, structured_content and metadata
  --timeout TIME     how long to wait for the answer, for example 10s or 2m; 30s by default. A shorter time than
                     30s bounds the start too: the wait for initialize, which is never longer than 30s
  --workspace DIR    where the extension works; the current directory by default
  -v, --verbose      show the extension's standard error and diagnostics as they come
  -h, --help         show this text

Examples:
  octet tool call ./word-count count --arg text="one two three"
  octet tool call ./word-count count --json '{"text": "one two three"}' --output json
  octet tool call ./indexer build --arg path=src --arg path=docs --flag index-depth=2 --timeout 2m

The result goes to standard output, everything about it to standard error: progress as it happens,
notifications, and what went wrong.

The first interrupt (Ctrl-C) cancels the call: the extension is told, and has a good second to answer. The second one
ends the extension at once. Either way nothing is left running.

` + exitCodes

const helpExtensionInspect = `octet extension inspect shows the extension in DIR: its manifest, and, once started, what was negotiated
and which tools it offers, with their schemas.

Usage:
  octet extension inspect DIR [flags]

Flags:
  --no-start         judge the manifest alone and start nothing: every problem with its line, rule and remedy
  --output FORMAT    text (default), which shows the first 100 problems, or json, which has all
  --flag name=value  a flag that the manifest declares
  --workspace DIR    where the extension works; the current directory by default
  -v, --verbose      show the extension's standard error and diagnostics as they come
  -h, --help         show this text

Examples:
  octet extension inspect ./word-count
  octet extension inspect --no-start ./word-count
  octet extension inspect --output json ./word-count

` + exitCodes
