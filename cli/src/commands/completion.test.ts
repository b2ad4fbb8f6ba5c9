import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCaptured } from '../command-runner.fixture.ts'

/** The scripts run in the shells that are installed, with a program that writes down its words and prints the same candidates each time. */
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dendro-completion-'))
  const candidates = ['shop.web', 'with space.$(touch x)\\tdescription', '--output=ndjson', "it's [odd]*"]
  const printed = candidates.map((candidate) => `"${candidate.replaceAll('$', '\\$')}"`).join(' ')
  await writeFile(
    join(folder, 'dendro'),
    `#!/bin/sh\nshift 2\nprintf '[%s]' "$@" > '${folder}/words'\ncase "$*" in *"file "*) exit;; esac\nprintf '%b\\n' ${printed}\n`,
  )
  await chmod(join(folder, 'dendro'), 0o755)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const installed = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0

/** The words that the program got, and what the shell would offer, a line each. */
async function run(
  shell: string,
  args: readonly string[],
  program: (script: string) => string,
): Promise<{ words: string; offered: string[] }> {
  await writeFile(join(folder, 'words'), '')
  const { out: script } = await runCaptured(['completion', shell])
  const path = [folder, process.env.PATH].join(delimiter)
  const text = `${program(script)}\ncat '${folder}/words'`
  const { stdout, stderr } = spawnSync(shell, [...args, text], { encoding: 'utf8', env: { ...process.env, PATH: path, HOME: folder } })
  expect(stderr).toBe('')
  const lines = stdout.split('\n')
  return { words: lines.pop() ?? '', offered: lines }
}

const inQuotes = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

describe.skipIf(!installed('bash'))('bash', () => {
  /** The words as bash splits them, at equals signs too. */
  const complete = (...words: string[]) =>
    run('bash', ['-c'], (script) =>
      [
        script,
        `COMP_WORDS=(dendro ${words.map(inQuotes).join(' ')}) COMP_CWORD=${words.length}`,
        '_dendro',
        `printf '%s\\n' "\${COMPREPLY[@]}"`,
      ].join('\n'),
    )

  test('quotes names, so that they cannot run as commands', async () => {
    const { words, offered } = await complete('search', '-d', '')
    expect(words).toBe('[search][-d][]')
    expect(offered).toEqual(['shop.web', 'with\\ space.\\$\\(touch\\ x\\)', '--output=ndjson', "it\\'s\\ \\[odd\\]\\*"])
  })

  test.each([
    ['at the equals sign', ['--output', '='], '[--output=]'],
    ['within the value', ['--output', '=', 'nd'], '[--output=nd]'],
  ])('completes the value after an equals sign: %s', async (_, typed, sent) => {
    const { words, offered } = await complete('search', ...typed)
    expect(words).toBe(`[search]${sent}`)
    expect(offered).toContain('ndjson')
  })

  test('a value that is complete stays one word', async () => {
    expect((await complete('search', '--output', '=', 'json', '--fo')).words).toBe('[search][--output=json][--fo]')
  })
})

describe.skipIf(!installed('zsh'))('zsh', () => {
  /** zsh keeps quotes in its words, and has the current word without its open quote in PREFIX. */
  const complete = (words: readonly string[], prefix: string) =>
    run('zsh', ['-f', '-c'], (script) =>
      [
        'compdef() { :; }',
        'compadd() { shift; print -rl -- "$@"; }',
        '_files() { print -r files; }',
        script,
        `words=(dendro ${words.map(inQuotes).join(' ')}) CURRENT=${words.length + 1} PREFIX=${inQuotes(prefix)}`,
        '_dendro',
      ].join('\n'),
    )

  test('offers names as they are, which zsh quotes itself', async () => {
    const { words, offered } = await complete(['search', '-d', ''], '')
    expect(words).toBe('[search][-d][]')
    expect(offered).toEqual(['shop.web', 'with space.$(touch x)', '--output=ndjson', "it's [odd]*"])
  })

  test.each([
    ['an open quote', '"with sp', 'with sp'],
    ['a backslash', 'with\\ sp', 'with\\ sp'],
  ])('passes words without their quotes: %s', async (_, typed, prefix) => {
    expect((await complete(['search', '"a b"', '-d', typed], prefix)).words).toBe('[search][a b][-d][with sp]')
  })

  test('offers files where there is nothing else', async () => {
    expect((await complete(['ingest', '--file', ''], '')).offered).toEqual(['files'])
  })
})

describe.skipIf(!installed('fish'))('fish', () => {
  const complete = (line: string) =>
    run('fish', ['--no-config', '-c'], (script) => `${script}\ncd '${folder}'\ncomplete -C ${inQuotes(line)}`)

  test('offers names with their descriptions', async () => {
    const { words, offered } = await complete('dendro search -d ')
    expect(words).toBe('[search][-d][]')
    expect(offered.sort()).toEqual(['--output=ndjson', "it's [odd]*", 'shop.web', 'with space.$(touch x)\tdescription'])
  })

  test.each([
    ['an open quote', 'dendro search "a b" -d "with sp'],
    ['a backslash', 'dendro search a\\ b -d with\\ sp'],
  ])('passes words without their quotes: %s', async (_, line) => {
    const { words, offered } = await complete(line)
    expect(words).toBe('[search][a b][-d][with sp]')
    expect(offered).toEqual(['with space.$(touch x)\tdescription'])
  })

  test('completes the value after an equals sign', async () => {
    const { words, offered } = await complete('dendro search --output=nd')
    expect(words).toBe('[search][--output=nd]')
    expect(offered).toEqual(['--output=ndjson'])
  })

  test('offers files for the option of a file', async () => {
    expect((await complete('dendro ingest -f den')).offered).toEqual(['dendro'])
  })
})
