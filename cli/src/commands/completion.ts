import { contract, makeClient } from '@dendro/api'
import { Argument, Command, type Option } from 'commander'
import { accessFor, clientOptions } from '../connection.ts'
import { placeName } from '../dataset-names.ts'
import { readProfiles } from '../profiles.ts'
import type { Terminal } from '../terminal.ts'

const EXAMPLES = `
Examples:
  source <(dendro completion bash)                                   # in ~/.bashrc
  source <(dendro completion zsh)                                    # in ~/.zshrc, after compinit
  dendro completion fish > ~/.config/fish/completions/dendro.fish`

const scripts = {
  // Bash splits --option=value at the equals sign, and completes only what follows it.
  bash: `_dendro() {
  local word candidate isValue='' given=''
  local -a words=()
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ "$word" == = && "\${words[\${#words[@]}-1]}" == --* ]]; then
      isValue=yes given="\${words[\${#words[@]}-1]}="
      words[\${#words[@]}-1]+==
    elif [[ -n "$isValue" ]]; then
      isValue=''
      words[\${#words[@]}-1]+="$word"
    else
      given=''
      words+=("$word")
    fi
  done
  while IFS= read -r candidate; do
    candidate="\${candidate%%$'\\t'*}"
    COMPREPLY+=("$(printf '%q' "\${candidate#"$given"}")")
  done < <(dendro __complete -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _dendro dendro`,
  zsh: `#compdef dendro
_dendro() {
  local -a candidates
  candidates=("\${(@f)$(dendro __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  if [[ -n "\${candidates[1]}" ]]; then
    compadd -- "\${(@)candidates%%$'\\t'*}"
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _dendro ]]; then
  _dendro "$@"
else
  compdef _dendro dendro
fi`,
  // The current word is as it was typed, with an open quote.
  fish: `function __dendro_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct | string replace -r '^["\\']' '' | string unescape)
    dendro __complete -- $words[2..-1] "$current" 2>/dev/null
end
complete -c dendro -f -a '(__dendro_complete)'
complete -c dendro -n '__fish_seen_subcommand_from ingest' -s f -l file -r -F
complete -c dendro -n '__fish_seen_subcommand_from export' -s o -l file -r -F`,
} as const

const shells: readonly string[] = Object.keys(scripts)

/** `dendro completion`: the script for a shell. It calls the hidden command `__complete`. */
export function completionCommand(terminal: Terminal): Command {
  return new Command('completion')
    .description('Print the script that completes commands, options and dataset names in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', EXAMPLES)
    .action((shell: keyof typeof scripts) => terminal.out(scripts[shell]))
}

/** The hidden command that prints the completions of a command line, one a line, with a description after a tab. */
export function completeCommand(terminal: Terminal, programOf: (words: readonly string[]) => Command): Command {
  return new Command('__complete').argument('[words...]').action(async (words: string[]) => {
    for (const { value, description } of await candidatesFor(words, programOf(words), terminal)) {
      // A name with control characters could act on the terminal; it must be typed.
      if (!/\p{Cc}/u.test(value)) terminal.out(description === '' ? value : `${value}\t${description.split('\n', 1)[0]}`)
    }
  })
}

type Candidate = { value: string; description: string }

async function candidatesFor(words: readonly string[], program: Command, terminal: Terminal): Promise<Candidate[]> {
  const current = words.at(-1) ?? ''
  const { command, openOption } = commandAt(words.slice(0, -1), program)
  const [, flag, start] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? []
  const assigned = flag === undefined ? undefined : command.options.find(({ long }) => long === flag)
  const matching = (all: Candidate[], typed: string) => all.filter(({ value }) => value.startsWith(typed))
  if (assigned && start !== undefined) {
    return matching(await valuesOf(assigned, terminal), start).map(({ value, description }) => ({ value: `${flag}=${value}`, description }))
  }
  if (openOption) return matching(await valuesOf(openOption, terminal), current)
  if (current.startsWith('-')) {
    const help = { value: '--help', description: 'display help for command' }
    return matching([...command.options.map(({ long, description }) => ({ value: long ?? '', description })), help], current)
  }
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map((value) => ({ value, description: '' })))
  const nested = command.commands.filter((one) => !one.name().startsWith('__'))
  return matching([...nested.map((one) => ({ value: one.name(), description: one.description() })), ...choices], current)
}

/** The command that the words lead to, and the option that still needs its value. */
function commandAt(words: readonly string[], program: Command): { command: Command; openOption: Option | undefined } {
  let command = program
  let openOption: Option | undefined
  for (const word of words) {
    if (openOption) openOption = undefined
    else if (word.startsWith('-')) {
      const option = command.options.find(({ long, short }) => long === word || short === word)
      openOption = option && (option.required || option.optional) ? option : undefined
    } else command = command.commands.find((one) => one.name() === word) ?? command
  }
  return { command, openOption }
}

const TIMEOUT_MS = 3_000

async function valuesOf(option: Option, terminal: Terminal): Promise<Candidate[]> {
  if (option.argChoices) return option.argChoices.map((value) => ({ value, description: '' }))
  if (option.long === '--profile') {
    return [...(await readProfiles(terminal)).profiles].map(([value, { url }]) => ({ value, description: url }))
  }
  if (option.long !== '--dataset' && option.long !== '--collection') return []
  const access = await accessFor({}, terminal)
  const client = makeClient(contract, { ...clientOptions(access), timeoutMs: TIMEOUT_MS, retry: false })
  const { datasets } = await client.datasets.list({ signal: terminal.signal })
  const values = option.long === '--collection' ? datasets.map(({ collection }) => collection) : datasets.map(placeName)
  return [...new Set(values)].sort().map((value) => ({ value, description: '' }))
}
