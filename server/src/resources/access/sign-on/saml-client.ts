import { promisify } from 'node:util'
import { SAML, type SamlConfig, ValidateInResponseTo } from '@node-saml/node-saml'
import { DOMParser, type Document, type Element, onWarningStopParsing } from '@xmldom/xmldom'
import { decrypt } from 'xml-encryption'
import type { World } from '../../../world.ts'
import { clientSecretOf, faultOfXml, type IdpRow, metadataOfProvider } from '../sso/sso.ts'
import { readAssertion, type SamlAnswer, type SamlNames, TRANSIENT } from './saml-assertion.ts'

type SamlWorld = Pick<World, 'vault' | 'meta' | 'clock'>

const SKEW_MS = 60_000
const UNSPECIFIED = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'
const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success'
/** The algorithms of signatures. SHA-1, keys that are shared, and transforms that choose what is signed are not among them. */
export const signatureAlgorithms: ReadonlySet<string> = new Set([
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
])
const ALGORITHMS = new Set([
  ...signatureAlgorithms,
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
])
const NAMES_OF_ALGORITHMS = ['SignatureMethod', 'DigestMethod', 'CanonicalizationMethod', 'Transform']

type SamlAddresses = { answers: string; logout: string }

/** The addresses of the service for a provider. */
export function samlAddresses(baseUrl: string, idpId: string): SamlAddresses {
  const root = `${baseUrl}/auth/saml/${idpId}`
  return { answers: `${root}/acs`, logout: `${root}/logout` }
}

/** The address to which a browser goes to sign on, with a signed request of this id. */
export async function samlRequestUrl(world: SamlWorld, idp: IdpRow, baseUrl: string, requestId: string): Promise<string> {
  const saml = await openSaml(world, idp, baseUrl, { generateUniqueId: () => requestId })
  return saml.getAuthorizeUrlAsync('', undefined, {})
}

/** The address to which a browser brings a signed request to end the session at the provider; undefined if the provider takes none. */
export async function samlLogoutUrl(world: SamlWorld, idp: IdpRow, baseUrl: string, hint: string | undefined): Promise<string | undefined> {
  if (hint === undefined || metadataOfProvider(idp).logoutUrl === undefined) return undefined
  const { nameID, nameIDFormat = UNSPECIFIED, ...names }: SamlNames = JSON.parse(hint)
  const saml = await openSaml(world, idp, baseUrl)
  return saml.getLogoutUrlAsync({ issuer: idp.issuer_url, nameID, nameIDFormat, ...names }, '', {})
}

/** What an administrator of the provider needs to know about the service. */
export async function serviceMetadata(world: SamlWorld, idp: IdpRow, baseUrl: string): Promise<string> {
  const saml = await openSaml(world, idp, baseUrl, { generateUniqueId: () => `_${idp.id}` })
  const certificate = pemOf(idp.certificate ?? '')
  return saml.generateServiceProviderMetadata(certificate, certificate)
}

/** Reads the answer of a provider; throws unless the provider has signed it for us and now. */
export async function readSamlAnswer(world: SamlWorld, idp: IdpRow, baseUrl: string, encoded: string): Promise<SamlAnswer> {
  const { answers } = samlAddresses(baseUrl, idp.id)
  await checkAnswer(world, idp, Buffer.from(encoded, 'base64').toString('utf8'), answers)
  const saml = await openSaml(world, idp, baseUrl)
  const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: encoded })
  const signed = profile?.getAssertion?.()
  if (!signed) throw new Error('the answer has no assertion')
  const emailAttribute = idp.attribute_mappings.find(({ user_attr }) => user_attr === 'email')?.provider_attr
  return readAssertion(signed.Assertion, { issuer: idp.issuer_url, recipient: answers, nowMs: world.clock.nowMs(), emailAttribute })
}

/** Refuses an answer by what it says outside of what is signed, and by its algorithms, also those inside of an encrypted assertion. */
async function checkAnswer(world: SamlWorld, idp: IdpRow, xml: string, answers: string): Promise<void> {
  const root = checkedRoot(xml, 'Response')
  const destination = root.getAttribute('Destination')
  if (destination && destination !== answers) throw new Error('the answer is for another destination')
  const children = childrenOf(root)
  const issuer = children.find(({ localName }) => localName === 'Issuer')
  if (issuer && issuer.textContent?.trim() !== idp.issuer_url) throw new Error('the answer is of another issuer')
  const status = children.find(({ localName }) => localName === 'Status')
  const code = status && childrenOf(status).find(({ localName }) => localName === 'StatusCode')
  if (code?.getAttribute('Value') !== SUCCESS) throw new Error(`the provider answered ${code?.getAttribute('Value') ?? 'without a status'}`)
  const [encrypted, ...others] = children.filter(({ localName }) => localName === 'EncryptedAssertion')
  if (others.length > 0) throw new Error('the answer has several assertions')
  if (encrypted) checkAlgorithms(parsed(await decrypted(world, idp, encrypted.toString())).documentElement)
}

/** The root of a message with this name, in which all signatures are by accepted algorithms. */
export function checkedRoot(xml: string, name: string): Element {
  const root = parsed(xml).documentElement
  if (root?.localName !== name) throw new Error(`the message is no ${name}`)
  checkAlgorithms(root)
  return root
}

function parsed(xml: string): Document {
  const fault = faultOfXml(xml)
  if (fault !== undefined) throw new Error(`the answer ${fault}`)
  return new DOMParser({ onError: onWarningStopParsing }).parseFromString(xml, 'text/xml')
}

function checkAlgorithms(root: Element | null): void {
  for (const name of NAMES_OF_ALGORITHMS) {
    const found = root?.getElementsByTagNameNS('*', name)
    for (let at = 0; at < (found?.length ?? 0); at++) {
      const one = found?.item(at)
      const algorithm = one?.getAttribute('Algorithm') ?? ''
      // The digest of an encryption is none of a signature.
      const isOfEncryption = (one?.parentNode as Element | null)?.localName === 'EncryptionMethod'
      if (!isOfEncryption && !ALGORITHMS.has(algorithm)) throw new Error(`the algorithm ${algorithm.slice(0, 100)} is not accepted`)
    }
  }
}

const childrenOf = (parent: Element): Element[] =>
  [...Array(parent.childNodes.length).keys()].flatMap((at) => {
    const child = parent.childNodes.item(at)
    return child?.nodeType === 1 ? [child as Element] : []
  })

const decryptXml = promisify(decrypt)

async function decrypted(world: SamlWorld, idp: IdpRow, xml: string): Promise<string> {
  const key = keyPem((await clientSecretOf(world, idp)).reveal())
  const text: unknown = await decryptXml(xml, { key, disallowDecryptionWithInsecureAlgorithm: true, warnInsecureAlgorithm: false })
  if (typeof text !== 'string') throw new Error('the assertion cannot be decrypted')
  return text
}

export async function openSaml(world: SamlWorld, idp: IdpRow, baseUrl: string, over: Partial<SamlConfig> = {}): Promise<SAML> {
  const { signOnUrl, logoutUrl, certificates } = metadataOfProvider(idp)
  const { answers, logout } = samlAddresses(baseUrl, idp.id)
  const key = keyPem((await clientSecretOf(world, idp)).reveal())
  return new SAML({
    entryPoint: signOnUrl,
    ...(logoutUrl === undefined ? {} : { logoutUrl }),
    callbackUrl: answers,
    logoutCallbackUrl: logout,
    issuer: idp.client_id,
    audience: idp.client_id,
    idpCert: certificates.map(pemOf),
    idpIssuer: idp.issuer_url,
    privateKey: key,
    decryptionPvk: key,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    // Either the response or the assertion is signed; only what is signed is read.
    wantAuthnResponseSigned: false,
    wantAssertionsSigned: false,
    acceptedClockSkewMs: SKEW_MS,
    // The request that an answer names is compared with the pending logins, which all processes share.
    validateInResponseTo: ValidateInResponseTo.never,
    ...over,
  })
}

export const isTransient = (format: string | undefined): boolean => format === TRANSIENT

const pemOf = (certificate: string): string => pem('CERTIFICATE', certificate)
const keyPem = (key: string): string => pem('PRIVATE KEY', key)

const pem = (label: string, text: string): string =>
  `-----BEGIN ${label}-----\n${(text.match(/.{1,64}/g) ?? []).join('\n')}\n-----END ${label}-----\n`
