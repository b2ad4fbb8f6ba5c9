import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import subsetFont from 'subset-font'
import type { Plugin } from 'vite'

const FOLDER = join(import.meta.dirname, '../.build/typefaces')

const charactersFrom = (first: number, last: number): string =>
  Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at)).join('')

/** CHARACTERS are those of Latin text and of our labels; typefaces.css names the same. The system draws all others. */
const CHARACTERS = `${charactersFrom(0x20, 0x7e)}${charactersFrom(0xa0, 0xff)}–—‘’“”…·•−×≈≤≥←↑→↓€™`

const wght = { min: 400, max: 600 }

/** Inter keeps its alternates, of which tables use the figures of equal width; in code a ligature would hide characters. */
const typefaces = [
  { file: 'inter.woff2', source: '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2', options: {} },
  {
    file: 'jetbrains-mono.woff2',
    source: '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
    options: { noLayoutClosure: true },
  },
]

/** subsetTypefaces writes the typefaces with the characters and weights that the app uses: 45 of 88 kB. */
export async function subsetTypefaces(): Promise<void> {
  const { resolve } = createRequire(import.meta.url)
  mkdirSync(FOLDER, { recursive: true })
  for (const { file, source, options } of typefaces) {
    const bytes = await subsetFont(readFileSync(resolve(source)), CHARACTERS, {
      targetFormat: 'woff2',
      variationAxes: { wght },
      ...options,
    })
    writeFileSync(join(FOLDER, file), bytes)
  }
}

/** preloadTypefaces requests the typefaces with the page, so that the first text has them. */
export const preloadTypefaces = (): Plugin => ({
  name: 'dendro-typefaces',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((name) => name.endsWith('.woff2'))
        .map((name) => ({
          tag: 'link',
          attrs: { rel: 'preload', href: `/app/${name}`, as: 'font', type: 'font/woff2', crossorigin: '' },
          injectTo: 'head',
        })),
  },
})
