import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compileModule } from '../compile-module.ts'

/**
 * Compiles `assembly/` to search.wasm.
 * npm run build-kernel
 */
const SOURCE = fileURLToPath(new URL('assembly/module.ts', import.meta.url))
export const SEARCH_MODULE = fileURLToPath(new URL('search.wasm', import.meta.url))
const PAGES = 32

export const compileSearch = (): Promise<Uint8Array> => compileModule({ source: SOURCE, pages: PAGES })

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(SEARCH_MODULE, await compileSearch())
