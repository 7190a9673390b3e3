package cli

const exitCodes = `Exit codes:
  0    done
  1    the tool reports an error, the extension refuses the call, or the manifest has errors
  2    the command line is wrong: unknown command, flag, tool or argument
  3    the extension could not be started, or broke the protocol
  4    the extension did not answer in time
  130  interrupted
`

const helpRoot = `octet runs extensions: programs that give a coding host tools, over standard input and output.

Usage:
  octet tool call DIR TOOL [--arg name=value ...]   call one tool of an extension
  octet extension inspect DIR [--no-start]          show what an extension is and offers
  octet --version                                   show the release and the octet version it implements

Examples:
  octet extension inspect --no-start ./word-count   is the manifest right?
  octet extension inspect ./word-count              which tools are there, and what do they take?
  octet tool call ./word-count count --arg text="one two three"

Every command explains itself: octet tool call --help.

` + exitCodes

const helpTool = `octet tool calls the tools of an extension.

Usage:
  octet tool call DIR TOOL [--arg name=value ...]

See octet tool call --help.
`

const helpExtension = `octet extension looks at extensions.

Usage:
  octet extension inspect DIR [--no-start]

See octet extension inspect --help.
`

const helpToolCall = `octet tool call starts the extension in DIR, calls TOOL, prints the result, and ends the extension.

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

The first interrupt (Ctrl-C) cancels the call: the extension is told, and may still answer. The second one
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
