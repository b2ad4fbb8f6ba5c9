import { cleanName, KEY_BYTES_MAX, unescapeText } from '../../lines/reference/walk.ts'
import type { BodyText } from './body-text.ts'

/** A stored key, with the names of the enclosing objects in front. */
export type KeyName<Role> = {
  /** '' for a key that is too long to be stored; no other path is empty. */
  readonly path: string
  /** The protocol's interpretation of the key, computed once for all its uses. */
  readonly role: Role
  readonly number: number
  readonly prefix: number
  readonly start: number
  readonly length: number
}

/** Bounds the memory for a body of many different names. */
const NAMES_MAX = 4_096
const FIRST_NUMBER = 1
/** The prefix of names at the top level. */
const NO_PREFIX = 0
const HASH_START = 0x811c9dc5
const HASH_FACTOR = 0x01000193

export const hashStart = HASH_START
export const hashStep = (hash: number, byte: number): number => Math.imul(hash ^ byte, HASH_FACTOR)

export function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = HASH_START
  for (let at = start; at < end; at += 1) hash = hashStep(hash, bytes[at] ?? 0)
  return hash
}

/** The keys of one body. Bodies repeat their keys, so each is decoded, cleaned and interpreted once. */
export class KeyNames<Role> {
  readonly #bytes: Uint8Array
  readonly #text: BodyText
  readonly #roleOf: (path: string) => Role
  readonly #known = new Map<number, KeyName<Role>>()
  #next = FIRST_NUMBER

  constructor(bytes: Uint8Array, text: BodyText, roleOf: (path: string) => Role) {
    this.#bytes = bytes
    this.#text = text
    this.#roleOf = roleOf
  }

  /** Finds the name with the bytes from start to end and this hash; `escaped` names are JSON-escaped. */
  of(prefix: KeyName<Role> | undefined, start: number, end: number, hash: number, escaped: boolean): KeyName<Role> {
    const number = prefix?.number ?? NO_PREFIX
    const slot = Math.imul(number, HASH_FACTOR) ^ hash
    const known = this.#known.get(slot)
    if (known !== undefined && known.prefix === number && this.#isSame(known, start, end)) return known
    const path = this.#path(prefix, start, end, escaped)
    const made = { path, role: this.#roleOf(path), number: this.#next, prefix: number, start, length: end - start }
    this.#next += 1
    if (this.#known.size >= NAMES_MAX) this.#known.clear()
    this.#known.set(slot, made)
    return made
  }

  #path(prefix: KeyName<Role> | undefined, start: number, end: number, escaped: boolean): string {
    if (prefix?.path === '' || (prefix?.path.length ?? 0) + end - start > KEY_BYTES_MAX) return ''
    const written = this.#text.text(start, end)
    const name = cleanName(escaped ? unescapeText(written) : written)
    return prefix === undefined ? name : `${prefix.path}.${name}`
  }

  #isSame(name: KeyName<Role>, start: number, end: number): boolean {
    if (name.length !== end - start) return false
    for (let index = 0; index < name.length; index += 1) {
      if (this.#bytes[name.start + index] !== this.#bytes[start + index]) return false
    }
    return true
  }
}
