import { randomUUID } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import type { Idp } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SignedXml } from 'xml-crypto'
import { openSamlProvider, type SamlProvider } from '../../../../../test/support/saml-provider.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

/** A forgery changes what is signed, how, or the answer after that. */
type Forgery = {
  assertion?: (xml: string) => string
  response?: (xml: string) => string
  sign?: Partial<Signing>
  after?: (xml: string) => string
}
type Signing = { algorithm: string; digest: string; key: string; what: string; before: string; transforms: string[] }

const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256'
const DOMAIN = 'forged.example'
const VICTIM = `victim@${DOMAIN}`
const MALLORY = `mallory@${DOMAIN}`

let app: TestApp
let org: TestOrganization
let provider: SamlProvider
let other: SamlProvider
let idp: Idp
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  provider = await openSamlProvider(`https://${DOMAIN}/idp`, () => '')
  other = await openSamlProvider('https://other.example/idp', () => '')
  const body = { provider_type: 'SAML', identifiers: [DOMAIN], default_roles: ['ReadOnly'] }
  idp = (await org.ask<Idp>('POST', '/sso/idps', { body: { ...body, name: 'forged', meta_cert: provider.metadata } })).body
})
afterAll(() => app.close())

const at = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString()
const acs = (id = idp.id): string => `${app.url}/auth/saml/${id}/acs`

const assertionFor = (request: string): string =>
  `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_a${randomUUID()}" Version="2.0" IssueInstant="${at(0)}"><saml:Issuer>${provider.entityId}</saml:Issuer><saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${MALLORY}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${at(300)}" Recipient="${acs()}" InResponseTo="${request}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${at(-30)}" NotOnOrAfter="${at(300)}"><saml:AudienceRestriction><saml:Audience>${idp.app_client_id}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${at(0)}" SessionIndex="_s"><saml:AuthnContext><saml:AuthnContextClassRef>x</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement></saml:Assertion>`

const responseWith = (assertion: string, request: string): string =>
  `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r${randomUUID()}" Version="2.0" IssueInstant="${at(0)}" Destination="${acs()}" InResponseTo="${request}"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${provider.entityId}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>${assertion}</samlp:Response>`

function signed(xml: string, over: Partial<Signing> = {}): string {
  const { algorithm, digest, key, what, before, transforms } = {
    algorithm: RSA_SHA256,
    digest: SHA256,
    key: provider.key,
    what: "//*[local-name(.)='Assertion']",
    before: "//*[local-name(.)='Assertion']/*[local-name(.)='Subject']",
    transforms: [ENVELOPED, EXCLUSIVE],
    ...over,
  }
  const signer = new SignedXml({ privateKey: key, signatureAlgorithm: algorithm, canonicalizationAlgorithm: EXCLUSIVE })
  if (algorithm.includes('hmac')) signer.enableHMAC()
  signer.addReference({ xpath: what, transforms, digestAlgorithm: digest })
  signer.computeSignature(xml, { prefix: 'ds', location: { reference: before, action: 'before' } })
  return signer.getSignedXml()
}

async function begin(from: Record<string, string>): Promise<{ request: string; cookie: string }> {
  const { body, headers } = await app.ask<{ url: string }>('POST', '/auth/sso/start', { body: { provider: idp.id }, headers: from })
  const xml = inflateRawSync(Buffer.from(new URL(body.url).searchParams.get('SAMLRequest') ?? '', 'base64')).toString()
  return { request: / ID="([^"]+)"/.exec(xml)?.[1] ?? '', cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}

let senders = 0
/** Sends a forgery in the browser that began, and says who came in. */
async function whoComesIn({ assertion = same, response = same, sign, after = same }: Forgery, to = acs()): Promise<string | undefined> {
  // Refused attempts from one address are slowed down.
  const from = { 'x-forwarded-for': `198.18.0.${++senders}` }
  const { request, cookie } = await begin(from)
  const xml = after(signed(response(responseWith(assertion(assertionFor(request)), request)), sign))
  const form = new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64') })
  const reply = await fetch(to, { method: 'POST', body: form, headers: from, redirect: 'manual' })
  const answer = new URL(reply.headers.get('location') ?? 'none:').search
  const login = await app.ask<{ user: { email: string } }>('POST', '/auth/sso/finish', {
    body: { answer: answer || '?' },
    headers: { cookie },
  })
  return login.status === 200 ? login.body.user.email : undefined
}

const same = (xml: string): string => xml
const replaced =
  (from: string | RegExp, to: string) =>
  (xml: string): string => {
    const changed = xml.replace(from, to)
    expect(changed).not.toBe(xml)
    return changed
  }

test('an honest answer is accepted, also if the clocks differ a little', async () => {
  expect(await whoComesIn({})).toBe(MALLORY)
  expect(await whoComesIn({ assertion: (xml) => xml.replaceAll(/NotOnOrAfter="[^"]+"/g, `NotOnOrAfter="${at(-20)}"`) })).toBe(MALLORY)
})

test('a comment in a name does not shorten it', async () => {
  const name = `${VICTIM}<!-- -->.evil.example`
  expect(await whoComesIn({ assertion: replaced(MALLORY, name) })).toBeUndefined()
  expect(await whoComesIn({ assertion: replaced(MALLORY, MALLORY.replace('@', '<!-- x -->@')) })).toBe(MALLORY)
  expect(await whoComesIn({ after: replaced(MALLORY, `${MALLORY}<!-- -->`) })).toBe(MALLORY)
})

const evil = (xml: string): string =>
  (/<saml:Assertion.*<\/saml:Assertion>/s.exec(xml)?.[0] ?? '')
    .replace(/<ds:Signature.*<\/ds:Signature>/s, '')
    .replace(/ ID="[^"]+"/, ' ID="_evil"')
    .replace(MALLORY, VICTIM)
const original = (xml: string): string => /<saml:Assertion.*<\/saml:Assertion>/s.exec(xml)?.[0] ?? ''
const signatureOf = (xml: string): string => /<ds:Signature.*<\/ds:Signature>/s.exec(xml)?.[0] ?? ''

test.each<[string, Forgery]>([
  ['of another issuer', { assertion: replaced('forged.example/idp', 'evil.example/idp') }],
  ['whose response is of another issuer', { response: replaced('assertion">https://forged', 'assertion">https://evil') }],
  ['for another audience', { assertion: replaced(/Audience>urn:uuid:[^<]+/, 'Audience>urn:uuid:other') }],
  ['without an audience', { assertion: replaced(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, '') }],
  ['without conditions', { assertion: replaced(/<saml:Conditions.*<\/saml:Conditions>/, '') }],
  ['for another recipient', { assertion: replaced(/Recipient="[^"]+"/, 'Recipient="https://evil.example/acs"') }],
  ['without a recipient', { assertion: replaced(/Recipient="[^"]+"/, '') }],
  ['for another destination', { response: replaced(/Destination="[^"]+"/, 'Destination="https://evil.example/acs"') }],
  ['of the past', { assertion: (xml) => xml.replaceAll(/NotOnOrAfter="[^"]+"/g, `NotOnOrAfter="${at(-70)}"`) }],
  ['whose subject is of the past', { assertion: replaced(/Data NotOnOrAfter="[^"]+"/, `Data NotOnOrAfter="${at(-70)}"`) }],
  ['whose subject has no end', { assertion: replaced(/Data NotOnOrAfter="[^"]+"/, 'Data') }],
  ['of the future', { assertion: replaced(/NotBefore="[^"]+"/, `NotBefore="${at(300)}"`) }],
  ['that was made long ago', { assertion: replaced(/IssueInstant="[^"]+"/, `IssueInstant="${at(-900)}"`) }],
  ['of a session that has ended', { assertion: replaced('SessionIndex', `SessionNotOnOrAfter="${at(-900)}" SessionIndex`) }],
  ['to another request', { assertion: replaced(/InResponseTo="[^"]+"/, 'InResponseTo="_other"') }],
  ['that nobody asked for', { assertion: replaced(/InResponseTo="[^"]+"/, '') }],
  ['that confirms by holding a key', { assertion: replaced('cm:bearer', 'cm:holder-of-key') }],
  ['without an authentication', { assertion: replaced(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/, '') }],
  ['that is a failure', { response: replaced('status:Success', 'status:Responder') }],
  ['without a signature', { after: replaced(/<ds:Signature.*<\/ds:Signature>/s, '') }],
  ['with another name', { after: replaced(MALLORY, VICTIM) }],
  ['with another value of the signature', { after: replaced(/<ds:SignatureValue>..../, '<ds:SignatureValue>AAAA') }],
  ['signed with SHA-1', { sign: { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' } }],
  ['with a digest by SHA-1', { sign: { digest: 'http://www.w3.org/2000/09/xmldsig#sha1' } }],
  ['that leaves out what is not signed', { sign: { transforms: [ENVELOPED, EXCLUSIVE, EXCLUSIVE] } }],
  ['with entities', { after: (xml) => `<!DOCTYPE x [<!ENTITY e "${VICTIM}">]>${xml.replace(MALLORY, '&e;')}` }],
  ['with two assertions, the forged one first', { after: (xml) => xml.replace(original(xml), evil(xml) + original(xml)) }],
  ['with two assertions, the forged one last', { after: (xml) => xml.replace(original(xml), original(xml) + evil(xml)) }],
  [
    'with a forged assertion around the signed one',
    { after: (xml) => xml.replace(original(xml), evil(xml).replace('</saml:Assertion>', `${original(xml)}</saml:Assertion>`)) },
  ],
  [
    'with the signed assertion in the signature of the forged one',
    {
      after: (xml) => {
        const bare = original(xml).replace(signatureOf(xml), '')
        const wrapped = signatureOf(xml).replace('</ds:Signature>', `<ds:Object>${bare}</ds:Object></ds:Signature>`)
        return xml.replace(original(xml), evil(xml).replace('<saml:Subject>', `${wrapped}<saml:Subject>`))
      },
    },
  ],
  [
    'with the signed assertion in an extension',
    { after: (xml) => xml.replace(original(xml), `<samlp:Extensions>${original(xml)}</samlp:Extensions>${evil(xml)}`) },
  ],
  [
    'with the same id on a forged assertion',
    {
      after: (xml) => {
        const id = /<saml:Assertion[^>]* ID="([^"]+)"/.exec(xml)?.[1] ?? ''
        const bare = original(xml).replace(signatureOf(xml), '')
        const forged = evil(xml)
          .replace('_evil', id)
          .replace('<saml:Subject>', `${signatureOf(xml)}<saml:Subject>`)
        return xml.replace(original(xml), `<samlp:Extensions>${bare}</samlp:Extensions>${forged}`)
      },
    },
  ],
  [
    'with two signed infos',
    {
      after: (xml) =>
        xml.replace(
          '<ds:SignedInfo>',
          `<ds:SignedInfo><ds:CanonicalizationMethod Algorithm="${EXCLUSIVE}"/><ds:SignatureMethod Algorithm="${RSA_SHA256}"/></ds:SignedInfo><ds:SignedInfo>`,
        ),
    },
  ],
])('an answer %s is refused', async (_what, forgery) => {
  expect(await whoComesIn(forgery)).toBeUndefined()
})

test('keys of others count for nothing', async () => {
  expect(await whoComesIn({ sign: { key: other.key } })).toBeUndefined()
  const shared = { algorithm: 'http://www.w3.org/2000/09/xmldsig#hmac-sha1', key: provider.certificate }
  expect(await whoComesIn({ sign: shared })).toBeUndefined()
})

test('an answer to one provider is none to another one', async () => {
  const body = { name: 'other', provider_type: 'SAML', identifiers: [DOMAIN], default_roles: ['Admin'], meta_cert: other.metadata }
  const second = (await org.ask<Idp>('POST', '/sso/idps', { body })).body
  expect(await whoComesIn({}, acs(second.id))).toBeUndefined()
  const asOther = (xml: string) =>
    xml
      .replace(provider.entityId, other.entityId)
      .replace(acs(), acs(second.id))
      .replace(idp.app_client_id ?? '', second.app_client_id ?? '')
  expect(await whoComesIn({ assertion: asOther, response: asOther, sign: { key: other.key } }, acs(second.id))).toBeUndefined()
})
