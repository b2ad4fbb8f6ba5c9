import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The compiled form of the sources in `assembly/` (README.md). */
const MODULE = new URL('kernel.wasm', import.meta.url)

/** The parts of WebAssembly that are used here; the types of Node lack them. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
  RuntimeError: new () => Error
}
export type KernelMemory = { readonly buffer: ArrayBuffer; grow(pages: number): number }

/** The functions of the module; texts are given by their positions in its memory. */
export type KernelExports = {
  readonly memory: KernelMemory
  init(secretHigh: number, secretLow: number): void
  clear(): void
  clearOpenMaps(): void
  setArrival(atMs: number, atNs: number, givenMs: number, givenNs: number): void
  setOptions(hasOpenMaps: number, readsMessage: number): void
  readRow(start: number, end: number, wholeStart: number, wholeEnd: number, scratch: number): number
  readTextRow(start: number, end: number, wholeStart: number, wholeEnd: number, scratch: number): number
  repair(start: number, end: number, to: number): number
  isTime(start: number, end: number): number
  msOfTime(): number
  nsOfTime(): number
  formatOfTime(): number
  hashMessage(start: number, end: number): void
  hashHigh(): number
  hashLow(): number
  writeRow(row: number, values: number, omitted: number, rawStart: number, rawEnd: number): void
  addText(column: number, row: number, length: number): number
  addOverflow(row: number, key: number, length: number): number
  observe(key: number, start: number, length: number): void
  fillRows(column: number, rows: number): void
  clearBlock(): void
  forgetColumns(): void
  arenaEnd(): number
  arenaAt(): number
  columnsAt(): number
  resultAt(): number
  valuesAt(): number
  lineShapesAt(): number
  pathsAt(): number
  stepsAt(): number
  shapesAt(): number
  messageAt(): number
  linesAt(): number
}

/** The functions that the module calls (assembly/host.ts). */
export type KernelHost = {
  learnKey(key: number, parent: number, start: number, length: number): number
  isOpenMap(key: number): number
  readTime(start: number, length: number): number
  learnFormat(start: number, length: number): number
  timeMs(): number
  timeNs(): number
  severityOfWord(start: number, length: number): number
  columnOf(path: number): number
  overflowKeyOf(path: number): number
}

const SECRETS = 2 ** 32

let compiled: object | undefined

/** A new instance of the module, with memory of its own, and with places in its tables that senders cannot foresee. */
export function instantiate(host: KernelHost): KernelExports {
  compiled ??= new WebAssembly.Module(readFileSync(MODULE))
  const exports = new WebAssembly.Instance(compiled, { host }).exports as KernelExports
  exports.init(randomInt(SECRETS), randomInt(SECRETS))
  return exports
}

/** True for an access beyond the memory and the like, after which an instance is in an unknown state. */
export const isTrap = (cause: unknown): boolean => cause instanceof WebAssembly.RuntimeError
