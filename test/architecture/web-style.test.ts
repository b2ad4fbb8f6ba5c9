import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const web = resolve(import.meta.dirname, '../../web/src')
const tokens = readFileSync(join(web, 'tokens.css'), 'utf8')
const sources = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:tsx?|css)$/.test(name) && !/\.test\.ts$|^(?:tokens|typefaces)\.css$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(web, name), 'utf8') }))

type Source = (typeof sources)[number]

const foundIn = (files: readonly Source[], pattern: RegExp): string[] =>
  files.flatMap(({ name, text }) =>
    text.split('\n').flatMap((line, at) => [...line.matchAll(pattern)].map(([found]) => `${name}:${at + 1} ${found.trim()}`)),
  )

/** CONTENT are files whose signs stand for characters of logs. */
const CONTENT = ['pages/explore/events/find/line-text.ts', 'pages/explore/events/pinned/pinned-events.ts']
/** GLYPHS are arrows, shapes, check marks and pictograms: icons are of the icon set. */
const GLYPHS =
  /[\u2190-\u21ff\u2300-\u23ff\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff\u22ee-\u22f1\u{1f000}-\u{1faff}]|&(?:[lrud]arr|times|hellip);|>\s*[×+‹›«»]\s*</gu
const glyphsIn = (files: readonly Source[]): string[] =>
  foundIn(
    files.filter(({ name }) => !CONTENT.includes(name)),
    GLYPHS,
  )

/** RAW are colors, sizes of text, radii and shadows beside the tokens, and colors of the style library. */
const RAW =
  /#[\da-f]{6,8}\b|\brgba?\(|\b(?:text|leading|rounded(?:-[a-z]+)?|tracking)-\[[\d.#][^\]]*\]|\bfont-size:\s*[\d.]+|\bborder-radius:\s*[\d.]+|\b(?:bg|text|border|fill|stroke|ring|outline)-(?:black|white|(?:red|orange|amber|yellow|lime|green|emerald|teal|cyan|sky|blue|indigo|violet|purple|fuchsia|pink|rose|slate|gray|zinc|neutral|stone)-\d+)\b/g

/** undeclared are sizes of text and radii that are no tokens. */
function undeclared(files: readonly Source[]): string[] {
  const isToken = (name: string): boolean => tokens.includes(`--${name}:`)
  return files.flatMap(({ name, text }) =>
    [
      ...text.matchAll(
        /(?<=["'`\s:])(text-(?:[a-z]?xs|sm|base|lg|\d*xl|row)|rounded(?:-(?:[tblr]{1,2}-)?(?:xs|sm|md|lg|\d*xl))?)(?=["'`\s])/g,
      ),
    ].flatMap(([, used = '']) => {
      const token = used.replace(/^rounded(?:-[tblr]{1,2}(?=-|$))?/, 'radius')
      return isToken(token) ? [] : [`${name} ${used}`]
    }),
  )
}

const planted = (text: string): Source[] => [{ name: 'planted.tsx', text }]

test('icons are of the icon set, and no character takes their place', () => {
  expect(['<b>▾</b>', "'✓ complete'", '<i>→</i>', '<button>×</button>', '⋯'].map((text) => glyphsIn(planted(text)).length)).toEqual([
    1, 1, 1, 1, 1,
  ])
  expect(glyphsIn(planted('a − b … c · d – e ≈ f'))).toEqual([])
  expect(glyphsIn(sources)).toEqual([])
})

test('colors, sizes of text and radii are tokens', () => {
  const bad = ['text-[13px]', 'rounded-[5px]', 'color: #ff0000', 'bg-red-500', 'bg-black/30', 'font-size: 12px', 'rgb(0 0 0)']
  expect(bad.map((text) => foundIn(planted(text), RAW).length)).toEqual(bad.map(() => 1))
  expect(foundIn(sources, RAW)).toEqual([])
  expect(undeclared(planted('"text-3xl rounded-xl text-sm rounded rounded-md"'))).toEqual([
    'planted.tsx text-3xl',
    'planted.tsx rounded-xl',
  ])
  expect(undeclared(sources)).toEqual([])
})

test('pages have the widths of the tokens', () => {
  const widths = foundIn(
    sources.filter(({ name }) => name.startsWith('pages/') || name === 'parts/shell/page.tsx'),
    /\bmax-w-\[\d+(?:px|rem)\]/g,
  )
  expect(widths).toEqual([])
})
