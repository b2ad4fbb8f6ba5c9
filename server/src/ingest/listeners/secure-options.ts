import type { SecureContextOptions } from 'node:tls'
import { type Certificate, checkSecure, readText } from '../../kernel/certificate.ts'
import type { ListenerSetting } from './setting.ts'

/** The options of a TLS listener; undefined for a listener without TLS. Wrong files stop the start. */
export function secureOptions(
  { transport, name, clientCa }: ListenerSetting,
  certificate: Certificate | undefined,
): SecureContextOptions | undefined {
  if (transport !== 'tls') return undefined
  if (!certificate) throw new Error(`DENDRO_LISTENERS names ${name}; set DENDRO_TLS_CERT_FILE and DENDRO_TLS_KEY_FILE for it`)
  const options: SecureContextOptions = {
    ...certificate.pair,
    ...(clientCa === undefined ? {} : { ca: readText({ setting: `client_ca of ${name}`, path: clientCa }) }),
    minVersion: 'TLSv1.2',
  }
  checkSecure(options, `the certificate, its key or the authorities of ${name}`)
  return options
}
