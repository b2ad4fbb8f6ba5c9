import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { settings } from '../server/src/config.ts'

const root = resolve(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('the documentation lists every setting with its default and its sentence, and no other', () => {
  const rows = read('docs/configuration.md').match(/^\| `DENDRO_.*\|$/gm)
  expect(rows).toEqual(Object.entries(settings).map(([name, { shown, sentence }]) => `| \`${name}\` | ${shown} | ${sentence} |`))
})

test('every command that the README shows exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const shown = [...read('README.md').matchAll(/npm (?:run ([a-z]+)|(start|test)\b)/g)].map((match) => match[1] ?? match[2] ?? '')
  expect(shown.length).toBeGreaterThan(8)
  expect([...new Set(shown)].filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
})

test('every room of the server stands in ARCHITECTURE.md', () => {
  const page = read('ARCHITECTURE.md')
  for (const room of ['events/', 'meta/', 'http/', 'query/', 'world.ts', 'resources/<noun>/']) expect(page).toContain(`\`${room}\``)
})
