import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { capturingTerminal, runCaptured } from './command-runner.fixture.ts'
import { programFor } from './program.ts'

const program = programFor(capturingTerminal({}))
const readPage = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8')
const page = readPage('cli.md')

/** The words of a shell command, without quotes. A comment and a redirection end it. */
const wordsOf = (line: string): string[] => {
  const words = [...line.matchAll(/(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+))/g)].map(([, double, single, plain]) => ({
    text: double ?? single ?? plain ?? '',
    isPlain: plain !== undefined,
  }))
  const end = words.findIndex(({ text, isPlain }) => isPlain && (/^#/.test(text) || /^[<>]$/.test(text)))
  return words.slice(0, end < 0 ? undefined : end).map(({ text }) => text)
}

/** The commands in a text: lines that begin with dendro, also after a pipe or within a substitution. */
const commandsIn = (text: string): string[][] =>
  text
    .split('\n')
    .flatMap((line) => line.split(/ \| |<\(/))
    .map((part) => part.trim().replace(/\)\s.*$/, ''))
    .filter((part) => part.startsWith('dendro '))
    .map((part) => wordsOf(part).slice(1))

/** Finds what a command line names that does not exist. */
function unknownIn(words: readonly string[]): string[] {
  let command: Command = program
  const unknown: string[] = []
  let isValue = false
  for (const word of words) {
    if (isValue) isValue = false
    else if (/^--?[a-z]/i.test(word)) {
      const option = command.options.find(({ long, short }) => long === word || short === word)
      if (!option) unknown.push(`${command.name()} ${word}`)
      isValue = option?.required === true
    } else {
      const nested = command.commands.find((one) => one.name() === word)
      if (!nested && command.registeredArguments.length === 0) unknown.push(`${command.name()} ${word}`)
      command = nested ?? command
    }
  }
  return unknown
}

const shellBlocksOf = (text: string) => [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block).join('\n')
const shellBlocks = shellBlocksOf(page)
const ownCommands = [
  'search',
  'tail',
  'top',
  'patterns',
  'context',
  'traces',
  'trace',
  'explain',
  'monitors',
  'export',
  'ingest',
  'rehydrate',
  'apply',
  'export-config',
  'login',
  'logout',
  'whoami',
  'profiles',
  'completion',
  'seed',
  'mcp',
]

test('every command and option in docs/cli.md exists, and every command is there', () => {
  const commands = commandsIn(shellBlocks)
  expect(commands.length).toBeGreaterThan(40)
  expect(commands.flatMap(unknownIn)).toEqual([])
  expect(ownCommands.filter((name) => !commands.some(([first]) => first === name))).toEqual([])
})

test('every command and option in docs/config-as-files.md exists', () => {
  const commands = commandsIn(shellBlocksOf(readPage('config-as-files.md')).replaceAll(/^.*\) (?=dendro)|(?: \|\| .*| ;;)$/gm, ''))
  expect(commands.length).toBeGreaterThan(4)
  expect(commands.flatMap(unknownIn)).toEqual([])
})

test.each(ownCommands)('the help of %s has examples whose options exist', async (name) => {
  const { out } = await runCaptured([name, '--help'])
  const examples = commandsIn(out.slice(out.indexOf('\nExamples:')))
  expect(examples.length).toBeGreaterThan(0)
  expect(examples.flatMap(unknownIn)).toEqual([])
})

test.each(['cli.md', 'config-as-files.md'])('docs/%s names no option that does not exist', (name) => {
  const known = new Set(['--help'])
  const add = (command: Command): void => {
    for (const { long, short } of command.options) for (const flag of [long, short]) if (flag) known.add(flag)
    command.commands.forEach(add)
  }
  add(program)
  const prose = readPage(name).replaceAll(/```[\s\S]*?```/g, '')
  const named = [...prose.matchAll(/`(--?[a-z][a-z-]*)`/g)].map(([, flag = '']) => flag)
  expect(named.filter((flag) => !known.has(flag))).toEqual([])
})
