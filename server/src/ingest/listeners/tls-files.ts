import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { ListenerSetting } from './setting.ts'

/** The files of the certificate and its key for all TLS listeners. */
export type TlsFiles = { cert: string | undefined; key: string | undefined }

/** Reads the files of a TLS listener, so that a wrong one stops the start; undefined for a listener without TLS. */
export function readTls({ transport, name, clientCa }: ListenerSetting, { cert, key }: TlsFiles): SecureContextOptions | undefined {
  if (transport !== 'tls') return undefined
  if (cert === undefined || key === undefined)
    throw new Error(`DENDRO_LISTENERS names ${name}; set DENDRO_TLS_CERT_FILE and DENDRO_TLS_KEY_FILE for it`)
  const options: SecureContextOptions = {
    cert: readText('DENDRO_TLS_CERT_FILE', cert),
    key: readText('DENDRO_TLS_KEY_FILE', key),
    ...(clientCa === undefined ? {} : { ca: readText(`client_ca of ${name}`, clientCa) }),
    minVersion: 'TLSv1.2',
  }
  try {
    createSecureContext(options)
  } catch (cause) {
    throw new Error(
      `the certificate, its key or the authorities of ${name} are not valid: ${cause instanceof Error ? cause.message : ''}`,
      { cause },
    )
  }
  return options
}

function readText(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`${setting} names a file that cannot be read, ${path} (${(cause as NodeJS.ErrnoException).code})`, { cause })
  }
}
