import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { contract, wordOf } from '../api/src/index.ts'
import { settings } from '../server/src/config.ts'
import { resourceAreas, serverModules } from './architecture/rules.ts'
import { olderNode } from './programs/older-node.ts'
import { readmeCommands, readmeScripts } from './support/readme.ts'
import { openTestApp } from './support/world.ts'

const root = resolve(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('the documentation lists every setting with its default and its sentence, and no other', () => {
  const rows = read('docs/configuration.md').match(/^\| `DENDRO_.*\|$/gm)
  expect(rows).toEqual(
    Object.entries(settings).map(([name, { shownDefault: shown, sentence }]) => `| \`${name}\` | ${shown} | ${sentence} |`),
  )
})

test('every command that the README shows exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const shown = readmeScripts().map((script) => script.replace(/^run /, ''))
  expect(shown.length).toBeGreaterThan(8)
  expect(shown.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
})

test.each([
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'docs/operations.md',
  'docs/style.md',
  'docs/benchmarks.md',
  'docs/performance/log/ingestion.md',
  'docs/performance/log/service.md',
])('%s names npm scripts that exist', (name) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const named = [...read(name).matchAll(/(?:`|^)npm (?:run (?:--silent )?)?([a-z][\w-]*)/gm)].map(([, script = '']) => script)
  expect(named.filter((script) => !Object.hasOwn(scripts, script) && !['ci', 'install', 'run'].includes(script))).toEqual([])
})

/** The pages of the repository that are kept by hand. */
const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((page) => existsSync(join(root, page)))

/** The fragments by which links address the headings of a page. */
const fragmentsOf = (text: string): string[] =>
  [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('links between pages lead to files and headings that exist', () => {
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].map(([, path = '', fragment]) => ({ page, path, fragment })),
  )
  expect(links.length).toBeGreaterThan(200)
  const broken = links.filter(({ page, path, fragment }) => {
    const target = path === '' ? join(root, page) : resolve(root, dirname(page), path)
    if (!existsSync(target)) return true
    return fragment !== undefined && target.endsWith('.md') && !fragmentsOf(readFileSync(target, 'utf8')).includes(fragment)
  })
  expect(broken.map(({ page, path, fragment }) => `${page}: ${path}${fragment ? `#${fragment}` : ''}`)).toEqual([])
})

test('docs/contract-notes.md gives each group of the API one page', () => {
  const rows = [...read('docs/contract-notes.md').matchAll(/^\| \[.+\|$/gm)].flatMap(([row]) => [...row.matchAll(/`([\w-]+)`/g)])
  expect(rows.map(([, group]) => group).sort()).toEqual(Object.keys(contract).map(wordOf).sort())
})

test('ARCHITECTURE.md names every module, area and feature module of the server', () => {
  const page = read('ARCHITECTURE.md')
  expect(
    Object.keys(serverModules).filter(
      (module) => !['resources', 'ingest', 'http/pages', 'mcp'].includes(module) && !page.includes(`\`${module}`),
    ),
  ).toEqual([])
  expect(Object.keys(resourceAreas).filter((area) => !page.includes(`| \`${area}\` |`))).toEqual([])
})

test.each(['docs/life-of-an-event.md', 'docs/life-of-a-query.md', 'docs/storage-format.md', 'CONTRIBUTING.md'])(
  '%s names files that exist',
  (name) => {
    const page = read(name)
    const quoted = [...page.matchAll(/`([\w./<>-]+\/[\w./<>-]*|[\w-]+\.ts)`/g)].map((match) => match[1] ?? '')
    const drawn = [...page.matchAll(/^ *```\n(.*?)^ *```$/gms)].flatMap(([block]) => [
      ...block.matchAll(/(?<![\w/])[\w-]+(?:\/[\w-]+)+\.ts\b/g),
    ])
    const named = [...quoted, ...drawn.map(([path]) => path)]
    const paths = named.filter((path) => !path.includes('<') && !path.startsWith('.'))
    expect(paths.length).toBeGreaterThan(5)
    const folders = [
      '',
      'server/src/',
      'server/src/lines/',
      'server/src/reading/',
      'server/src/resources/',
      'server/src/resources/queries/search/',
    ]
    expect(paths.filter((path) => !folders.some((folder) => existsSync(join(root, folder, path))))).toEqual([])
  },
)

const run = promisify(execFile)

test.each([
  ['the Node of the tests', async () => dirname(process.execPath)],
  ['Node 20', () => olderNode(20)],
])(
  'the commands of the README work as written, under %s',
  async (_, folderOf) => {
    const commands = readmeCommands().filter((line) => !/^(npm start|npm test|export) /.test(line))
    expect(commands.map((line) => line.split(' ', 3).join(' '))).toEqual([
      'curl -H "X-SERVICE-API-KEY:',
      'curl -H "X-SERVICE-API-KEY:',
      'npx dendro search',
      'npm run seed',
    ])
    const app = await openTestApp()
    try {
      const { key } = await app.newOrganization()
      const PATH = `${await folderOf()}${delimiter}${process.env.PATH ?? ''}`
      const env = { ...process.env, PATH, DENDRO_URL: app.url, DENDRO_API_KEY: key, CURL_HOME: '/' }
      const answers: string[] = []
      for (const line of commands) answers.push((await run('sh', ['-c', line], { cwd: root, env })).stdout)
      const [sent = '', found = '', counted = '', seeded = ''] = answers
      expect(JSON.parse(sent)).toMatchObject({ accepted: 1 })
      expect(JSON.parse(found)).toMatchObject({ totals: { count: 1 }, events: [{ message_kvs: { message: 'hello' } }] })
      expect(counted).toMatch(/^LEVEL +COUNT\(\*\)\n\w+ +1$/m)
      expect(seeded).not.toBe('')
    } finally {
      await app.close()
    }
  },
  300_000,
)
