/** A part of the input with whole lines, and where it begins. */
export type LineBatch = { offset: number; bytes: Uint8Array<ArrayBuffer> }

const NEWLINE = 10

export type BatchOptions = {
  /** A batch ends at the last whole line within this size, or at the end of the line that exceeds it. */
  bytesMax: number
  /** The size of the first batch, to repeat one exactly. */
  firstBytes?: number | undefined
  /** An incomplete batch of whole lines is sent after this much silence; never when absent, so that batches depend only on the content. */
  idleMs?: number | undefined
  offset?: number
}

/** Divides a stream into batches of whole lines. */
export async function* lineBatches(input: AsyncIterable<Uint8Array>, options: BatchOptions): AsyncGenerator<LineBatch> {
  const { bytesMax, idleMs } = options
  let { offset = 0, firstBytes } = options
  let held: Buffer<ArrayBuffer> = Buffer.alloc(0)
  const take = (length: number): LineBatch => {
    const batch = { offset, bytes: new Uint8Array(held.subarray(0, length)) }
    held = Buffer.from(held.subarray(length))
    offset += length
    return batch
  }
  for await (const piece of idleMs === undefined ? input : withPauses(input, idleMs)) {
    if (piece === undefined) {
      const length = held.lastIndexOf(NEWLINE) + 1
      if (length > 0) yield take(length)
      continue
    }
    held = Buffer.concat([held, piece])
    for (;;) {
      const length = firstBytes === undefined ? endOfBatch(held, bytesMax) : held.length >= firstBytes ? firstBytes : 0
      if (length === 0) break
      firstBytes = undefined
      yield take(length)
    }
  }
  while (held.length > 0) yield take(endOfBatch(held, bytesMax) || held.length)
}

/** The length of the next batch, or 0 when more input is needed. */
export function endOfBatch(held: Buffer, bytesMax: number): number {
  if (held.length <= bytesMax) return 0
  return held.lastIndexOf(NEWLINE, bytesMax - 1) + 1 || held.indexOf(NEWLINE) + 1
}

/** Yields undefined after each silence. */
async function* withPauses(input: AsyncIterable<Uint8Array>, idleMs: number): AsyncGenerator<Uint8Array | undefined> {
  const pieces = input[Symbol.asyncIterator]()
  let next = pieces.next()
  let isIdle = false
  for (;;) {
    let timer: ReturnType<typeof setTimeout> | undefined
    const silence = new Promise<'silent'>((resolve) => {
      timer = setTimeout(() => resolve('silent'), idleMs)
    })
    const first = await (isIdle ? next : Promise.race([next, silence]))
    clearTimeout(timer)
    if (first === 'silent') {
      isIdle = true
      yield undefined
      continue
    }
    isIdle = false
    if (first.done) return
    yield first.value
    next = pieces.next()
  }
}
