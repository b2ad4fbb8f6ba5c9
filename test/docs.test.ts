import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { settings } from '../server/src/config.ts'
import { openTestApp } from './world.ts'

const root = resolve(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('the documentation lists every setting with its default and its sentence, and no other', () => {
  const rows = read('docs/configuration.md').match(/^\| `DENDRO_.*\|$/gm)
  expect(rows).toEqual(Object.entries(settings).map(([name, { shown, sentence }]) => `| \`${name}\` | ${shown} | ${sentence} |`))
})

test('every command that the README shows exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const shown = [...read('README.md').matchAll(/npm (?:run ([a-z-]+)|(start|test)\b)/g)].map((match) => match[1] ?? match[2] ?? '')
  expect(shown.length).toBeGreaterThan(8)
  expect([...new Set(shown)].filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
})

test('every room of the server stands in ARCHITECTURE.md', () => {
  const page = read('ARCHITECTURE.md')
  for (const room of ['events/', 'meta/', 'http/', 'query/', 'world.ts', 'resources/<noun>/']) expect(page).toContain(`\`${room}\``)
})

test('the first event and the first questions of the README are answered, as they stand there', async () => {
  const block = /## A first event[\s\S]*?```sh\n([\s\S]*?)```/.exec(read('README.md'))?.[1] ?? ''
  const commands = block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => /^(curl|npx) /.test(line))
  expect(commands.map((line) => line.split(' ', 2).join(' '))).toEqual(['curl -H', 'curl -H', 'npx dendro'])
  const app = await openTestApp()
  try {
    const { key } = await app.newOrganization()
    const env = { ...process.env, DENDRO_URL: app.url, DENDRO_API_KEY: key, CURL_HOME: '/' }
    const answers: string[] = []
    for (const line of commands) answers.push((await promisify(execFile)('sh', ['-c', line], { cwd: root, env })).stdout)
    const [sent = '', found = '', counted = ''] = answers
    expect(JSON.parse(sent)).toMatchObject({ accepted: 1 })
    expect(JSON.parse(found)).toMatchObject({ totals: { count: 1 }, events: [{ message_kvs: { message: 'hello' } }] })
    expect(counted).toContain('count(*)')
  } finally {
    await app.close()
  }
}, 120_000)
