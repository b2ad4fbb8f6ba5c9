import { hash } from 'node:crypto'

const HASHES = 2 ** 32

/** A number from 0 to 1 that follows from a text or a line, equally distributed, and the same in every process. */
export const shareOf = (value: string | Uint8Array): number => hash('sha256', value, 'buffer').readUInt32BE() / HASHES
