import type { Config } from './config.ts'
import { Certificate } from './kernel/certificate.ts'
import type { Logger } from './kernel/log.ts'
import type { Chore } from './work.ts'

/** The certificate of the HTTP port, and the one of listeners with TLS, which may be the same. */
export type Certificates = { ofHttp: Certificate | undefined; ofListeners: Certificate | undefined }

const RENEW_EVERY_MS = 10_000

type Names = readonly [cert: keyof Config & `${string}CERT${string}`, key: keyof Config & `${string}KEY${string}`]

/** Reads the files that the configuration names. A certificate without its key stops the start. */
export function openCertificates(config: Config): Certificates {
  const ofHttp = open(config, ['DENDRO_TLS_CERT', 'DENDRO_TLS_KEY'])
  return { ofHttp, ofListeners: open(config, ['DENDRO_TLS_CERT_FILE', 'DENDRO_TLS_KEY_FILE']) ?? ofHttp }
}

function open(config: Config, [certName, keyName]: Names): Certificate | undefined {
  const [cert, key] = [config[certName], config[keyName]]
  if (typeof cert === 'string' && typeof key === 'string') {
    return new Certificate({ cert: { setting: certName, path: cert }, key: { setting: keyName, path: key } })
  }
  if (cert === undefined && key === undefined) return undefined
  const [given, missing] = cert === undefined ? [keyName, certName] : [certName, keyName]
  throw new Error(`${given} needs ${missing}: a certificate is used with its key`)
}

/** Reads the files every ten seconds: a file system does not report every change, such as one of a mounted secret. */
export const renewals = ({ ofHttp, ofListeners }: Certificates, log: Logger): readonly Chore[] =>
  [...new Set([ofHttp, ofListeners])]
    .filter((certificate) => certificate !== undefined)
    .map((certificate) => ({
      everyMs: RENEW_EVERY_MS,
      failed: 'a changed certificate cannot be used; the former one stays in use',
      run: async () => {
        if (certificate.renew()) log.info({ files: certificate.paths }, 'a changed certificate is in use')
      },
    }))
