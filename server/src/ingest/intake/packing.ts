import type { NativeColumn } from '../../events/writer/post.ts'
import type { CountedBlock, Shredded } from './worker-messages.ts'

/** Columns of larger blocks are transferred: copying them costs more. */
const PACKED_BYTES_MAX = 64 * 1024
const BUFFER_BYTES = 2 ** 20
/** The buffers of few blocks cost little, and each can be freed as soon as its block is stored. */
const UNPACKED_BLOCKS_MAX = 8

/**
 * Copies the columns of small blocks into common buffers. Handing over a buffer costs as much as copying some kilobytes, and a post for ten thousand
 * datasets or of a thousand days has a hundred thousand columns.
 */
export function packSmallBlocks(shredded: readonly Shredded[]): readonly Shredded[] {
  const count = shredded.reduce((sum, one) => sum + (one.kind === 'blocks' ? one.blocks.length : 0), 0)
  if (count <= UNPACKED_BLOCKS_MAX) return shredded
  let buffer = new Uint8Array(0)
  let used = 0
  const packColumn = ({ name, type, bytes }: NativeColumn): NativeColumn => {
    if (used + bytes.length > buffer.length) {
      buffer = new Uint8Array(BUFFER_BYTES)
      used = 0
    }
    const copy = buffer.subarray(used, used + bytes.length)
    copy.set(bytes)
    used += bytes.length
    return { name, type, bytes: copy }
  }
  const pack = (block: CountedBlock): CountedBlock =>
    block.bytes > PACKED_BYTES_MAX ? block : { ...block, columns: block.columns.map(packColumn) }
  return shredded.map((one) => (one.kind === 'blocks' ? { ...one, blocks: one.blocks.map(pack) } : one))
}

/** The memory of the blocks, to be transferred instead of copied. */
export const buffersOf = (shredded: readonly Shredded[]): ArrayBuffer[] => [
  ...new Set(
    shredded.flatMap((one) =>
      one.kind === 'blocks' ? one.blocks.flatMap(({ columns }) => columns.map(({ bytes }) => bytes.buffer as ArrayBuffer)) : [],
    ),
  ),
]
