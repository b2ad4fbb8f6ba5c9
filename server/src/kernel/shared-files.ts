import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A file in memory that all threads share. The version changes when the file is replaced. */
export type SharedFile = { readonly name: string; readonly version: string; readonly bytes: Uint8Array }

const FILE_BYTES_MAX = 1024 * 2 ** 20

/** The files of a directory with one ending. They are read again when they are replaced. */
export class SharedFiles {
  readonly #directory: string
  readonly #ending: string
  readonly #check: (files: readonly SharedFile[]) => void
  #files: readonly SharedFile[] = []

  /** Throws when the directory or a file cannot be read, or when `check` throws. */
  constructor(directory: string, ending: string, check: (files: readonly SharedFile[]) => void) {
    this.#directory = directory
    this.#ending = ending
    this.#check = check
    this.renew()
  }

  get current(): readonly SharedFile[] {
    return this.#files
  }

  /** Reads what has changed, and keeps the former files when it fails. True when something has changed. */
  renew(): boolean {
    const known = new Map(this.#files.map((file) => [file.version, file]))
    const names = readdirSync(this.#directory).filter((name) => name.endsWith(this.#ending))
    const files = names.sort().map((name) => {
      const path = join(this.#directory, name)
      const { size, mtimeMs, ino } = statSync(path)
      const version = `${name} ${size} ${mtimeMs} ${ino}`
      return known.get(version) ?? readShared(path, { name, version, size })
    })
    const isChanged = files.length !== this.#files.length || files.some(({ version }) => !known.has(version))
    if (isChanged) this.#check(files)
    this.#files = files
    return isChanged
  }
}

function readShared(path: string, { name, version, size }: { name: string; version: string; size: number }): SharedFile {
  if (size > FILE_BYTES_MAX) throw new Error(`${path} is larger than ${FILE_BYTES_MAX} bytes`)
  const bytes = new Uint8Array(new SharedArrayBuffer(size))
  bytes.set(readFileSync(path).subarray(0, size))
  return { name, version, bytes }
}
