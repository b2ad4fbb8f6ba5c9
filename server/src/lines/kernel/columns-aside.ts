import type { KernelExports } from './instance.ts'

const PAGE_BYTES = 65_536
/** The state that lies in front of the columns (assembly/columns.ts). */
const STATE_BYTES = 16

/** A block whose columns the kernel may hold; they are aside while it holds those of another. */
export type HeldBlock = { aside: Uint8Array[] | undefined }

/** The columns of the block in the memory of an instance: their places, and their bytes. Undefined for a block without any. */
export function columnsIn({ memory, arenaAt, arenaEnd, columnsAt, linesAt }: KernelExports): Uint8Array[] | undefined {
  const bytes = new Uint8Array(memory.buffer)
  if (arenaEnd() === arenaAt()) return undefined
  return [bytes.slice(columnsAt() - STATE_BYTES, linesAt()), bytes.slice(arenaAt(), arenaEnd())]
}

/** Puts them into the memory of an instance that holds none. */
export function putColumns({ memory, arenaAt, columnsAt }: KernelExports, columns: readonly Uint8Array[] | undefined): void {
  const [places, texts] = columns ?? []
  if (!places || !texts) return
  const missing = arenaAt() + texts.length - memory.buffer.byteLength
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES))
  const bytes = new Uint8Array(memory.buffer)
  bytes.set(places, columnsAt() - STATE_BYTES)
  bytes.set(texts, arenaAt())
}
