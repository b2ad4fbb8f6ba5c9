import { readFileSync } from 'node:fs'
import { main } from 'assemblyscript/asc'

/** The file of the sources that is compiled, and the pages of memory that the module begins with. */
type ModuleSource = { readonly source: string; readonly pages: number }

const OUT = 'module.wasm'
const FEATURES = ['simd', 'relaxed-simd'].flatMap((name) => ['--enable', name])

/** Compiles AssemblyScript. The same sources and the pinned compiler give the same bytes. */
export async function compileModule({ source, pages }: ModuleSource): Promise<Uint8Array> {
  const files = new Map<string, Uint8Array>()
  const options = ['-O3', '--runtime', 'stub', ...FEATURES, '--noAssert', '--initialMemory', String(pages)]
  const { error, stderr } = await main([source, '--outFile', OUT, ...options], {
    readFile: (name, base) => readText(name.startsWith('/') ? name : `${base}/${name}`),
    writeFile: (name, contents) => void files.set(name, Buffer.from(contents)),
    listFiles: () => [],
  })
  const compiled = files.get(OUT)
  if (error || !compiled) throw new Error(`${source} does not compile: ${stderr.toString()}`, { cause: error })
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
