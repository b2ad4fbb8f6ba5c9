import { randomUUID } from 'node:crypto'
import { LONGEST_PERIOD_S } from '../../lines/layout/periods.ts'
import type { TableClass } from '../../lines/layout/table.ts'
import type { Block, NativeColumn, Post } from './post.ts'

const DAY_MS = 86_400_000

/** The default day of test events. */
export const DAY_START_MS = Date.UTC(2026, 2, 1)

type PostOptions = Partial<Pick<Post, 'orgNumber' | 'logId' | 'idempotencyKey' | 'bodyHash'>> & { tableClass?: TableClass }

/** A post of plain lines, one millisecond apart from `startMs` on. */
export function postOf(lines: readonly string[], given: PostOptions = {}, startMs = DAY_START_MS): Post {
  const { orgNumber = 1, logId = randomUUID(), idempotencyKey = 0n, bodyHash = BigInt(lines.length), tableClass = 's' } = given
  return { orgNumber, logId, idempotencyKey, bodyHash, blocks: [blockOf(lines, { orgNumber, logId, tableClass }, startMs)] }
}

export function blockOf(
  lines: readonly string[],
  { orgNumber, logId, tableClass = 's' }: { orgNumber: number; logId: string; tableClass?: TableClass },
  startMs = DAY_START_MS,
): Block {
  const times = BigInt64Array.from(lines, (_, row) => BigInt(startMs + row) * 1_000_000n)
  const columns: NativeColumn[] = [
    { name: 'org_id', type: 'UInt32', bytes: bytesOf(new Uint32Array(lines.length).fill(orgNumber)) },
    { name: 'log_id', type: 'UUID', bytes: Buffer.alloc(16 * lines.length, uuid(logId)) },
    { name: 'ts', type: "DateTime64(9, 'UTC')", bytes: bytesOf(times) },
    { name: 'raw', type: 'String', bytes: Buffer.concat(lines.map(text)) },
  ]
  const bytes = columns.reduce((sum, column) => sum + column.bytes.length, 0)
  return { tableClass, periodS: LONGEST_PERIOD_S, day: Math.floor(startMs / DAY_MS), rows: lines.length, columns, bytes }
}

/** A post whose bytes the store cannot read: its last column ends too early. */
export function damaged(post: Post): Post {
  const blocks = post.blocks.map((block) => ({
    ...block,
    columns: block.columns.map((column) => (column.name === 'raw' ? { ...column, bytes: column.bytes.subarray(1) } : column)),
  }))
  return { ...post, blocks }
}

const bytesOf = (numbers: Uint32Array | BigInt64Array): Uint8Array => new Uint8Array(numbers.buffer)

/** Each half of a UUID is stored in reverse byte order. */
function uuid(id: string): Buffer {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
  bytes.subarray(0, 8).reverse()
  bytes.subarray(8).reverse()
  return bytes
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  const length: number[] = []
  let rest = bytes.length
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}
