import { X509Certificate } from 'node:crypto'
import { DOMParser, type Element, onWarningStopParsing } from '@xmldom/xmldom'

/** What the metadata of a SAML provider say. */
export type SamlMetadata = {
  entityId: string
  /** Where browsers are sent to sign on, by the redirect binding. */
  signOnUrl: string
  /** Where browsers are sent at the end of sessions, if the provider takes part in single logout. */
  logoutUrl: string | undefined
  /** The certificates whose keys sign for the provider, in base64. */
  certificates: string[]
}

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata'
const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#'
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
const RSA_BITS_MIN = 2_048
const CERTIFICATES_MAX = 10
const TAGS_MAX = 10_000

/** Why a text is not XML that may be parsed: it is too large, or it defines entities. */
export function faultOfXml(text: string): string | undefined {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) return 'must not have a DOCTYPE'
  return text.split('<', TAGS_MAX + 2).length > TAGS_MAX + 1 ? `must have at most ${TAGS_MAX} tags` : undefined
}

/** Reads metadata, or says which rule they violate. */
export function readMetadata(text: string, isAllowed: (url: URL) => boolean): SamlMetadata | { fault: string } {
  const fault = faultOfXml(text)
  if (fault !== undefined) return { fault }
  const root = parsed(text)
  if (!root) return { fault: 'must be XML' }
  const entity = [root, ...childrenOf(root, METADATA, 'EntityDescriptor')].find(({ localName }) => localName === 'EntityDescriptor')
  const provider = entity && childrenOf(entity, METADATA, 'IDPSSODescriptor').find((one) => speaksSaml2(one))
  const entityId = entity?.getAttribute('entityID')
  if (!provider || !entityId)
    return { fault: 'must be the SAML 2.0 metadata of an identity provider (an EntityDescriptor with an IDPSSODescriptor)' }
  const signOnUrl = locationOf(provider, 'SingleSignOnService')
  if (signOnUrl === undefined) return { fault: 'must have a SingleSignOnService with the binding HTTP-Redirect' }
  const logoutUrl = locationOf(provider, 'SingleLogoutService', 'ResponseLocation')
  for (const url of [signOnUrl, logoutUrl]) {
    if (url !== undefined && !(URL.canParse(url) && isAllowed(new URL(url))))
      return { fault: 'must have locations that begin with https://' }
  }
  const certificates = signingCertificates(provider)
  if (certificates.length === 0 || certificates.length > CERTIFICATES_MAX)
    return { fault: `must have 1 to ${CERTIFICATES_MAX} signing certificates` }
  if (!certificates.every(isStrong)) return { fault: `must have signing certificates with RSA keys of at least ${RSA_BITS_MIN} bits` }
  return { entityId, signOnUrl, logoutUrl, certificates }
}

function parsed(text: string): Element | undefined {
  try {
    return new DOMParser({ onError: onWarningStopParsing }).parseFromString(text.trim(), 'text/xml').documentElement ?? undefined
  } catch {
    return undefined
  }
}

const childrenOf = (parent: Element, space: string, name: string): Element[] =>
  [...Array(parent.childNodes.length).keys()].flatMap((at) => {
    const child = parent.childNodes.item(at) as Element | null
    return child?.nodeType === 1 && child.namespaceURI === space && child.localName === name ? [child] : []
  })

const speaksSaml2 = (one: Element): boolean => (one.getAttribute('protocolSupportEnumeration') ?? '').split(/\s+/).includes(PROTOCOL)

function locationOf(provider: Element, service: string, preferred?: string): string | undefined {
  const found = childrenOf(provider, METADATA, service).find((one) => one.getAttribute('Binding') === REDIRECT)
  return (preferred && found?.getAttribute(preferred)) || found?.getAttribute('Location') || undefined
}

function signingCertificates(provider: Element): string[] {
  const keys = childrenOf(provider, METADATA, 'KeyDescriptor').filter((key) => ['', 'signing'].includes(key.getAttribute('use') ?? ''))
  const data = keys.flatMap((key) => childrenOf(key, SIGNATURE, 'KeyInfo')).flatMap((info) => childrenOf(info, SIGNATURE, 'X509Data'))
  const texts = data
    .flatMap((one) => childrenOf(one, SIGNATURE, 'X509Certificate'))
    .map((one) => (one.textContent ?? '').replace(/\s+/g, ''))
  return [...new Set(texts)]
}

function isStrong(certificate: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = new X509Certificate(Buffer.from(certificate, 'base64')).publicKey
    return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= RSA_BITS_MIN
  } catch {
    return false
  }
}
