import type { AsyncBuffer } from 'hyparquet'
import { type GroupLines, linesOfGroups, UnreadableParquet } from './row-groups.ts'

/**
 * Reads one Parquet file in a process of its own: what a hostile file does to the memory or the time of its reader ends only this process. The parent
 * sends the bytes, and asks for lines.
 */
export type ToParquetProcess =
  | { kind: 'open'; bytes: number; firstGroup: number; withFields: boolean }
  | { kind: 'next' }
  | { kind: 'bytes'; bytes: Uint8Array }
export type FromParquetProcess =
  | { kind: 'read'; position: number; length: number }
  | { kind: 'lines'; bytes: Uint8Array; begins: number | undefined }
  | { kind: 'end' }
  | { kind: 'broken'; message: string }

const READ_BYTES_MAX = 4 * 2 ** 20

let lines: AsyncGenerator<GroupLines> | undefined
let received: ((bytes: Uint8Array) => void) | undefined
/** One read at a time. */
let reading: Promise<unknown> = Promise.resolve()

const send = (message: FromParquetProcess): void => void process.send?.(message)

process.on('message', (message: ToParquetProcess) => {
  if (message.kind === 'open') lines = linesOfGroups(fileOf(message.bytes), message)
  else if (message.kind === 'bytes') received?.(message.bytes)
  else void sendNext()
})
// The parent is gone.
process.on('disconnect', () => process.exit())
// A stop of the whole group is for the parent, which ends this process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)

async function sendNext(): Promise<void> {
  try {
    const next = await lines?.next()
    send(!next || next.done ? { kind: 'end' } : { kind: 'lines', ...next.value })
  } catch (thrown) {
    const reason = thrown instanceof UnreadableParquet ? thrown.message : `it cannot be read as Parquet (${String(thrown).slice(0, 200)})`
    send({ kind: 'broken', message: reason })
  }
}

function fileOf(byteLength: number): AsyncBuffer {
  const readPart = (position: number, length: number): Promise<Uint8Array> => {
    const part = reading.then(
      () =>
        new Promise<Uint8Array>((resolve) => {
          received = resolve
          send({ kind: 'read', position, length })
        }),
    )
    reading = part
    return part
  }
  return {
    byteLength,
    slice: async (start, end = byteLength) => {
      const bytes = new Uint8Array(Math.max(0, end - start))
      for (let filled = 0; filled < bytes.length; ) {
        const part = await readPart(start + filled, Math.min(READ_BYTES_MAX, bytes.length - filled))
        if (part.length === 0) throw new UnreadableParquet('it ends early')
        bytes.set(part, filled)
        filled += part.length
      }
      return bytes.buffer
    },
  }
}
