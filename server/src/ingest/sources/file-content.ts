import { hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { SourceFile, SourcePosition } from '../../resources/data/sources/sources.ts'
import { HEAD_BYTES, isParquet, type ParquetReading, parquetContent, wrongName } from '../parquet/parquet-content.ts'
import {
  type BrokenContent,
  bytesOf,
  compressionOf,
  emptyContent,
  firstBroken,
  plainContent,
  type SourceContent,
  unchangedContent,
  unpackedContent,
} from './content.ts'
import { type ContentDetails, endOf, isContentOf } from './content-batches.ts'

/**
 * What is known of a file besides its position: the name under which it was read first, its state when it had been read to its end, or when it was refused,
 * and the print of a Parquet file.
 */
export type FileDetails = ContentDetails & {
  readonly name: string
  readonly done?: string
  readonly refused?: { readonly state: string; readonly reason: string }
  readonly print?: string
}

/**
 * The content of a file: lines as they are, lines that are packed, or the rows of a Parquet file, whose own bytes are `raw`. `broken` says why it ends
 * early.
 */
export type FileContent = SourceContent & { broken(): BrokenContent | undefined } & (
    | { readonly kind: 'lines' | 'packed' }
    | { readonly kind: 'parquet'; readonly raw: SourceContent; readonly bytes: number; readonly print: string }
  )

/** Finds what a file is in its name and its first bytes. */
export async function openContent(file: SourceFile, handle: FileHandle, reading: ParquetReading): Promise<FileContent> {
  const compression = compressionOf(file.name)
  const plain = plainContent(handle)
  const unbroken = () => undefined
  if (compression) {
    return {
      ...unpackedContent(async () => bytesOf(plain), { unpacking: compression, close: plain.close }),
      kind: 'packed',
      broken: unbroken,
    }
  }
  const head = await plain.read(0, HEAD_BYTES)
  const wrong = wrongName(file.name, head)
  if (wrong) return { ...emptyContent(plain.close), kind: 'packed', broken: () => wrong }
  if (!isParquet(head)) return { ...plain, kind: 'lines', broken: unbroken }
  const { onBroken, broken } = firstBroken()
  const raw = unchangedContent(handle, file)
  const bytes = file.size
  const content = parquetContent(raw, { bytes, onBroken, ...reading })
  return { ...content, kind: 'parquet', raw, bytes, print: await printOf(plain, bytes), broken }
}

const PRINT_BYTES = 64 * 2 ** 10

/** Distinguishes a Parquet file from others without decoding it. Its end says where its values are, and often which are the least and the greatest. */
async function printOf(file: SourceContent, bytes: number): Promise<string> {
  const parts = [await file.read(0, PRINT_BYTES), await file.read(Math.max(0, bytes - PRINT_BYTES), PRINT_BYTES)]
  return `${bytes} ${hash('sha256', Buffer.concat(parts), 'hex').slice(0, 32)}`
}

/** Whether a file is the one that was read up to a position. */
export async function isFileOf(row: SourcePosition<FileDetails>, content: FileContent): Promise<boolean> {
  if (endOf(row) === 0) return true
  const { print } = row.details
  if (content.kind === 'parquet' || print !== undefined) return content.kind === 'parquet' && content.print === print
  return isContentOf(row, content)
}
