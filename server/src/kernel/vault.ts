import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Secret } from './secret.ts'

/** The deployment's secrets and keys derived from them. */
export type Vault = {
  /** The keyed hash of a credential as stored. Without the master key it reveals nothing. */
  hashOf(
    purpose: 'api-key' | 'personal-key' | 'recovery-code' | 'invitation' | 'attempt' | 'download' | 'confirmation',
    text: Secret,
  ): Buffer
  /** Encrypts an organization's data key; unwrapKey decrypts it, for the same organization only. */
  wrapKey(orgId: string, key: Buffer): Buffer
  unwrapKey(orgId: string, wrapped: Buffer): Buffer
  jwtSecret: Secret
  /** `fingerprint` identifies the master key without revealing it, `tokenFingerprint` the token secret. */
  fingerprint: string
  tokenFingerprint: string
}

const SECRET_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FINGERPRINT_BYTES = 8

/** Uses the configured secrets and generates missing ones once, in files that only the service can read. */
export function openVault(options: { dataDir: string; masterKey: Secret | undefined; jwtSecret: Secret | undefined }): Vault {
  const master = options.masterKey ?? readOrCreateSecret(join(options.dataDir, 'master.key'))
  const jwtSecret = options.jwtSecret ?? readOrCreateSecret(join(options.dataDir, 'jwt.key'))
  const derive = (purpose: string, from = master): Buffer =>
    Buffer.from(hkdfSync('sha256', from.reveal(), '', `dendro ${purpose}`, SECRET_BYTES))
  // Created once: hashing with raw bytes creates a key object each time, at five times the cost of the hash.
  const hashKeys = {
    'api-key': createSecretKey(derive('api-key hash')),
    'personal-key': createSecretKey(derive('personal key hash')),
    'recovery-code': createSecretKey(derive('recovery code hash')),
    invitation: createSecretKey(derive('invitation hash')),
    attempt: createSecretKey(derive('attempt hash')),
    download: createSecretKey(derive('download hash')),
    confirmation: createSecretKey(derive('confirmation hash')),
  }
  const wrapping = derive('data key wrap')
  return {
    wrapKey: (orgId, key) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', wrapping, nonce).setAAD(Buffer.from(orgId))
      return Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()])
    },
    unwrapKey: (orgId, wrapped) => {
      const decipher = createDecipheriv('aes-256-gcm', wrapping, wrapped.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(orgId))
      decipher.setAuthTag(wrapped.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(wrapped.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
    },
    hashOf: (purpose, text) => createHmac('sha256', hashKeys[purpose]).update(text.reveal()).digest(),
    jwtSecret,
    fingerprint: derive('fingerprint').subarray(0, FINGERPRINT_BYTES).toString('hex'),
    tokenFingerprint: derive('token fingerprint', jwtSecret).subarray(0, FINGERPRINT_BYTES).toString('hex'),
  }
}

/** Reads a secret file or creates it. The write is atomic and durable. */
function readOrCreateSecret(path: string): Secret {
  const known = read(path)
  if (known) return new Secret(known)
  const draft = `${path}.${process.pid}.new`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, randomBytes(SECRET_BYTES).toString('base64url'))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    linkSync(draft, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  } finally {
    unlinkSync(draft)
  }
  const made = read(path)
  if (!made) throw new Error(`the secret file ${path} is empty; remove it if this deployment holds no data yet, or restore it`)
  return new Secret(made)
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cause
  }
}
