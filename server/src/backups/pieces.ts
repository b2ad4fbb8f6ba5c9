import { type BackupPiece, sha256 } from './manifest.ts'
import type { BackupPlace } from './place.ts'

/** The rows of a table are stored in pieces of this size, which bounds memory. */
const PIECE_BYTES = 16 * 2 ** 20

/** Stores a stream as numbered files, each with its checksum. */
export async function storePieces(place: BackupPlace, path: string, content: AsyncIterable<Buffer>): Promise<BackupPiece[]> {
  const pieces: BackupPiece[] = []
  let waiting: Buffer[] = []
  let bytes = 0
  const store = async (): Promise<void> => {
    const whole = Buffer.concat(waiting)
    const piece = { path: `${path}.${pieces.length + 1}`, bytes, sha256: sha256(whole) }
    await place.put(piece.path, whole)
    pieces.push(piece)
    waiting = []
    bytes = 0
  }
  for await (const chunk of content) {
    waiting.push(chunk)
    bytes += chunk.byteLength
    if (bytes >= PIECE_BYTES) await store()
  }
  if (bytes > 0) await store()
  return pieces
}

/** Reads the pieces one after the other; throws at the first that is not as it was stored. */
export async function* readPieces(place: BackupPlace, pieces: readonly BackupPiece[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    const content = await place.get(piece.path)
    if (!content) throw new Error(`the file ${piece.path} is missing`)
    if (content.byteLength !== piece.bytes || sha256(content) !== piece.sha256) throw new Error(`the file ${piece.path} is damaged`)
    yield content
  }
}
