import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** A file of the web app, held in memory as it is sent, and compressed with brotli where the build has done so. */
export type WebFile = { type: string; bytes: Buffer; brotli?: Buffer }
export type WebFiles = { page: string; files: ReadonlyMap<string, WebFile> }

const types: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
    '.woff2': 'font/woff2',
  }),
)
const BROTLI = '.br'
const BUILT = new URL('../../../../../web/dist/', import.meta.url).pathname

/** Reads the build of the web app; undefined when it was not built. */
export function readWebFiles(directory = BUILT): WebFiles | undefined {
  try {
    const page = readFileSync(join(directory, 'index.html'), 'utf8')
    const folder = join(directory, 'files')
    const names = readdirSync(folder)
    const files = names
      .filter((name) => !name.endsWith(BROTLI))
      .map((name): [string, WebFile] => [
        name,
        {
          type: types.get(extname(name)) ?? 'application/octet-stream',
          bytes: readFileSync(join(folder, name)),
          ...(names.includes(name + BROTLI) ? { brotli: readFileSync(join(folder, name + BROTLI)) } : {}),
        },
      ])
    return { page, files: new Map(files) }
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw thrown
  }
}
