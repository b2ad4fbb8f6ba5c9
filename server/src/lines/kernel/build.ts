import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compileModule } from '../compile-module.ts'

/**
 * Compiles the sources in `assembly/` to kernel.wasm.
 * npm run build-kernel
 */
const SOURCE = fileURLToPath(new URL('assembly/module.ts', import.meta.url))
export const MODULE = fileURLToPath(new URL('kernel.wasm', import.meta.url))
/** Tables and lines. The module adds memory for the columns of blocks. */
const PAGES = 896

export const compileKernel = (): Promise<Uint8Array> => compileModule({ source: SOURCE, pages: PAGES })

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(MODULE, await compileKernel())
