import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { main } from 'assemblyscript/asc'

/**
 * Compiles the sources in `assembly/` to kernel.wasm. The same sources and the pinned compiler give the same bytes.
 * npm run build-kernel
 */
const SOURCE = fileURLToPath(new URL('assembly/module.ts', import.meta.url))
export const MODULE = fileURLToPath(new URL('kernel.wasm', import.meta.url))
/** Tables and lines. The module adds memory for the columns of blocks. */
const PAGES = 896

export async function compileKernel(): Promise<Uint8Array> {
  const files = new Map<string, Uint8Array>()
  const options = ['-O3', '--runtime', 'stub', '--enable', 'simd', '--noAssert', '--initialMemory', String(PAGES)]
  const { error, stderr } = await main([SOURCE, '--outFile', 'kernel.wasm', ...options], {
    readFile: (name, base) => readText(name.startsWith('/') ? name : `${base}/${name}`),
    writeFile: (name, contents) => void files.set(name, Buffer.from(contents)),
    listFiles: () => [],
  })
  const compiled = files.get('kernel.wasm')
  if (error || !compiled) throw new Error(`the kernel does not compile: ${stderr.toString()}`, { cause: error })
  return compiled
}

/** The compiler looks for a file in several places. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR')) return null
    throw cause
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(MODULE, await compileKernel())
