import { promisify } from 'node:util'
import samlp from 'samlp'
import { newSamlKey } from '../../server/src/resources/access/sso/saml-provider.ts'

/** A person as a SAML provider knows them. */
export type SamlPerson = {
  name: string
  format?: 'persistent' | 'transient' | 'emailAddress'
  attributes?: Record<string, string | string[]>
}
type SamlOptions = Partial<Parameters<typeof samlp.getSamlResponse>[0]>

export type SamlProvider = {
  entityId: string
  metadata: string
  key: string
  certificate: string
  /** Answers the request in an address for a person, as the form that a browser posts. */
  answer(url: string, person: SamlPerson, over?: SamlOptions): Promise<string>
  /** Answers nobody's request. */
  unasked(to: { recipient: string; audience: string }, person: SamlPerson): Promise<string>
}

const BEGIN = { persistent: '2.0', transient: '2.0', emailAddress: '1.1' } as const
export const SIGN_ON_URL = 'https://provider.example/saml'
export const LOGOUT_URL = 'https://provider.example/logout'

export const pem = (label: string, text: string): string =>
  `-----BEGIN ${label}-----\n${text.match(/.{1,64}/g)?.join('\n')}\n-----END ${label}-----`

/** A SAML provider without pages: it signs on everybody who is named. The service verifies what it sends, and it verifies what the service sends. */
export async function openSamlProvider(entityId: string, serviceCertificate: () => string): Promise<SamlProvider> {
  const made = await newSamlKey(Date.now())
  const [key, certificate] = [pem('PRIVATE KEY', made.key.reveal()), pem('CERTIFICATE', made.certificate)]
  const send = (person: SamlPerson, over: SamlOptions): Promise<string> =>
    promisify(samlp.getSamlResponse)(
      {
        issuer: entityId,
        cert: certificate,
        key,
        signatureAlgorithm: 'rsa-sha256',
        digestAlgorithm: 'sha256',
        lifetimeInSeconds: 300,
        profileMapper: () => ({
          getClaims: () => person.attributes ?? {},
          getNameIdentifier: () => {
            const format = person.format ?? 'persistent'
            return { nameIdentifier: person.name, nameIdentifierFormat: `urn:oasis:names:tc:SAML:${BEGIN[format]}:nameid-format:${format}` }
          },
        }),
        ...over,
      },
      person,
    ).then((xml) => Buffer.from(xml ?? '').toString('base64'))
  return {
    entityId,
    key,
    certificate,
    metadata: metadataOf(entityId, made.certificate),
    answer: async (url, person, over = {}) => {
      const query = Object.fromEntries(new URL(url).searchParams)
      const request = await promisify(samlp.parseRequest)(
        { method: 'GET', query },
        { signingCert: serviceCertificate(), signature: query.Signature, sigAlg: query.SigAlg, relayState: query.RelayState },
      )
      if (!request || request.destination !== SIGN_ON_URL) throw new Error('the request is not for this provider')
      const { id, issuer, assertionConsumerServiceURL: recipient } = request
      return send(person, { inResponseTo: id, audience: issuer, recipient, destination: recipient, ...over })
    },
    unasked: ({ recipient, audience }, person) => send(person, { audience, recipient, destination: recipient }),
  }
}

export const metadataOf = (entityId: string, certificate: string): string => `<?xml version="1.0"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">
  <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <KeyDescriptor use="signing">
      <KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo>
    </KeyDescriptor>
    <SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${LOGOUT_URL}"/>
    <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${SIGN_ON_URL}"/>
  </IDPSSODescriptor>
</EntityDescriptor>`
