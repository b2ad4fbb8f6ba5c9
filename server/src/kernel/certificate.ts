import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'

/** A file, and the setting that names it. */
export type NamedFile = { setting: string; path: string }
/** A certificate chain and its private key, in PEM. */
export type CertificatePair = { cert: string; key: string }

/** Certificate with its key, read again when the files change, so that a renewed one needs no restart. */
export class Certificate {
  readonly #files: { cert: NamedFile; key: NamedFile }
  readonly #users = new Set<(pair: CertificatePair) => void>()
  #pair: CertificatePair
  /** The last pair that was refused, so that it is reported once. */
  #refused: CertificatePair | undefined

  /** Reads both files, so that a wrong one stops the start. */
  constructor(files: { cert: NamedFile; key: NamedFile }) {
    this.#files = files
    this.#pair = this.#read()
    this.#check(this.#pair)
  }

  get pair(): CertificatePair {
    return this.#pair
  }

  get paths(): readonly string[] {
    return [this.#files.cert.path, this.#files.key.path]
  }

  /** Calls back with each new pair. */
  onChange(use: (pair: CertificatePair) => void): void {
    this.#users.add(use)
  }

  /**
   * Takes over changed files and returns true. Files that cannot be used keep the old pair: a certificate and its key are rarely replaced in
   * one instant. The first attempt with such files throws.
   */
  renew(): boolean {
    const pair = this.#read()
    if (isEqual(pair, this.#pair) || isEqual(pair, this.#refused)) return false
    this.#refused = pair
    this.#check(pair)
    this.#refused = undefined
    this.#pair = pair
    for (const use of this.#users) use(pair)
    return true
  }

  #read(): CertificatePair {
    return { cert: readText(this.#files.cert), key: readText(this.#files.key) }
  }

  #check(pair: CertificatePair): void {
    const { cert, key } = this.#files
    checkSecure(pair, `the certificate of ${cert.setting} (${cert.path}) and the key of ${key.setting} (${key.path})`)
  }
}

const isEqual = (a: CertificatePair, b: CertificatePair | undefined): boolean => a.cert === b?.cert && a.key === b.key

/** Fails with a sentence if TLS cannot be spoken with these options. */
export function checkSecure(options: SecureContextOptions, name: string): void {
  try {
    createSecureContext(options)
  } catch (cause) {
    throw new Error(`${name} are not valid: ${cause instanceof Error ? cause.message : ''}`, { cause })
  }
}

export function readText({ setting, path }: NamedFile): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`${setting} names a file that cannot be read, ${path} (${(cause as NodeJS.ErrnoException).code})`, { cause })
  }
}
