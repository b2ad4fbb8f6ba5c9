import { badField } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import { isLoopback } from './addresses.ts'
import type { IdpRow } from './rows.ts'
import { readMetadata, type SamlMetadata } from './saml-metadata.ts'
import { selfSigned } from './self-signed.ts'

type SamlAsk = { meta_cert?: string | undefined; app_client_id?: string | undefined; accept_idp_initiated?: boolean | undefined }

const CERTIFICATE_MS = 20 * 365 * 86_400_000
const CLOCK_SKEW_MS = 86_400_000

const isAllowed = (url: URL): boolean => url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))

/** The changes to a SAML provider. */
export function samlChanges({ meta_cert, app_client_id, accept_idp_initiated }: SamlAsk): Partial<IdpRow> {
  return {
    ...(meta_cert !== undefined && { meta_cert, issuer_url: checkedMetadata(meta_cert).entityId }),
    ...(app_client_id !== undefined && { client_id: app_client_id }),
    ...(accept_idp_initiated !== undefined && { accept_idp_initiated }),
  }
}

function checkedMetadata(text: string): SamlMetadata {
  const read = readMetadata(text, isAllowed)
  if ('fault' in read) throw badField('meta_cert', read.fault)
  return read
}

/** The metadata of a stored provider, which were checked when they were stored. */
export function metadataOfProvider({ meta_cert }: Pick<IdpRow, 'meta_cert'>): SamlMetadata {
  const read = readMetadata(meta_cert ?? '', isAllowed)
  if ('fault' in read) throw new Error(`the stored metadata of a provider ${read.fault}`)
  return read
}

/** The entity id of the service for a provider. It does not depend on the address of a request, which a caller chooses. */
export const defaultEntityId = (idpId: string): string => `urn:uuid:${idpId}`

/** A new key of the service for one provider, with a certificate for it in base64. It signs what we send, and decrypts what the provider encrypts. */
export async function newSamlKey(nowMs: number): Promise<{ key: Secret; certificate: string }> {
  const { key, certificate } = await selfSigned('Dendro', nowMs - CLOCK_SKEW_MS, nowMs + CERTIFICATE_MS)
  return { key: new Secret(key.toString('base64')), certificate: certificate.toString('base64') }
}
