import { z } from 'zod'
import type { Claims } from '../sso/sso.ts'

/** What a verified answer of a SAML provider says. */
export type SamlAnswer = {
  /** The id of the request that it answers; undefined if nobody asked. */
  inResponseTo: string | undefined
  claims: Claims & { sub: string }
  /** What the provider calls the session, and when it ends there at the latest. */
  session: string | undefined
  endsAtMs: number | undefined
  /** What a logout at the provider has to name, as JSON. */
  kept: { hint: string }
  /** The id of the assertion, which counts once, and when it can no longer count. */
  id: string
  expiresAtMs: number
}

export type SamlNames = {
  nameID: string
  nameIDFormat?: string | undefined
  nameQualifier?: string | undefined
  spNameQualifier?: string | undefined
  sessionIndex?: string | undefined
}

export type Expected = { issuer: string; recipient: string; nowMs: number; emailAttribute: string | undefined }

const SKEW_MS = 60_000
/** An assertion is for one sign-on, so that older ones are not accepted, whatever they say of themselves. */
const AGE_MAX_MS = 10 * 60_000
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
export const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
const TEXT_LENGTH_MAX = 1_000

const attributes = <T extends z.ZodRawShape>(shape: T) => z.object({ $: z.object(shape) })
const time = z.string().transform((text, context) => {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) context.addIssue({ code: 'custom', message: 'must be a time' })
  return ms
})
const id = z.string().min(1).max(TEXT_LENGTH_MAX)

const Confirmation = attributes({ Method: z.string() }).extend({
  SubjectConfirmationData: z
    .tuple([
      attributes({
        Recipient: z.string().optional(),
        NotOnOrAfter: time.optional(),
        NotBefore: time.optional(),
        InResponseTo: z.string().optional(),
      }),
    ])
    .optional(),
})
const Attribute = attributes({ Name: z.string(), FriendlyName: z.string().optional() }).extend({
  AttributeValue: z.array(z.unknown()).optional(),
})

const NameAttributes = z.object({
  Format: z.string().optional(),
  NameQualifier: z.string().optional(),
  SPNameQualifier: z.string().optional(),
})

/** An assertion as the XML reader gives it. */
const Assertion = attributes({ ID: id, IssueInstant: time }).extend({
  Issuer: z.tuple([z.object({ _: z.string() })]),
  Subject: z.tuple([
    z.object({
      NameID: z.tuple([z.object({ _: id, $: NameAttributes.optional() })]),
      SubjectConfirmation: z.array(Confirmation).min(1),
    }),
  ]),
  AuthnStatement: z.array(attributes({ SessionIndex: id.optional(), SessionNotOnOrAfter: time.optional() })).min(1),
  AttributeStatement: z.array(z.object({ Attribute: z.array(Attribute).optional() }).or(z.string())).optional(),
})
type Assertion = z.output<typeof Assertion>

/** Reads an assertion whose signature, audience and conditions were checked; throws if anything else in it does not fit. */
export function readAssertion(given: unknown, expected: Expected): SamlAnswer {
  const assertion = Assertion.parse(given)
  const { nowMs } = expected
  const { ID, IssueInstant } = assertion.$
  if (assertion.Issuer[0]._ !== expected.issuer) throw new Error('the assertion is of another issuer')
  if (IssueInstant > nowMs + SKEW_MS) throw new Error('the assertion is of the future')
  if (IssueInstant < nowMs - AGE_MAX_MS - SKEW_MS) throw new Error('the assertion is too old')
  const [authenticated] = assertion.AuthnStatement
  const endsAtMs = authenticated?.$.SessionNotOnOrAfter
  if (endsAtMs !== undefined && endsAtMs <= nowMs) throw new Error('the session at the provider has ended')
  return {
    inResponseTo: confirmedRequest(assertion, expected),
    claims: claimsIn(assertion, expected.emailAttribute),
    session: authenticated?.$.SessionIndex,
    kept: { hint: JSON.stringify(namedBy(assertion)) },
    endsAtMs,
    id: ID,
    expiresAtMs: IssueInstant + AGE_MAX_MS + 2 * SKEW_MS,
  }
}

/** The names of the person and the session as a request for a logout repeats them. */
function namedBy({ Subject: [subject], AuthnStatement: [authenticated] }: Assertion): SamlNames {
  const [{ _: nameID, $: about }] = subject.NameID
  return {
    nameID,
    nameIDFormat: about?.Format,
    nameQualifier: about?.NameQualifier,
    spNameQualifier: about?.SPNameQualifier,
    sessionIndex: authenticated?.$.SessionIndex,
  }
}

/** The request that the assertion confirms to answer, for us and now. */
function confirmedRequest({ Subject: [subject] }: Assertion, { recipient, nowMs }: Expected): string | undefined {
  const confirmation = subject.SubjectConfirmation.map(({ $, SubjectConfirmationData }) =>
    $.Method === BEARER ? SubjectConfirmationData?.[0].$ : undefined,
  ).find(
    (data) =>
      data?.Recipient === recipient &&
      data.NotOnOrAfter !== undefined &&
      data.NotOnOrAfter + SKEW_MS > nowMs &&
      (data.NotBefore === undefined || data.NotBefore - SKEW_MS <= nowMs),
  )
  if (!confirmation) throw new Error('the assertion confirms no subject for this address and time')
  return confirmation.InResponseTo
}

/** The usual names of attributes, by the claim of OpenID Connect that they stand for. */
const usualNames: readonly (readonly [claim: string, names: readonly string[]])[] = [
  [
    'email',
    [
      'email',
      'mail',
      'emailAddress',
      'urn:oid:0.9.2342.19200300.100.1.3',
      'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
    ],
  ],
  ['given_name', ['firstName', 'givenName', 'urn:oid:2.5.4.42', 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname']],
  ['family_name', ['lastName', 'sn', 'surname', 'urn:oid:2.5.4.4', 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname']],
  ['name', ['displayName', 'urn:oid:2.16.840.1.113730.3.1.241', 'http://schemas.microsoft.com/identity/claims/displayname']],
  ['groups', ['http://schemas.microsoft.com/ws/2008/06/identity/claims/groups', 'memberOf', 'urn:oid:1.3.6.1.4.1.5923.1.5.1.1']],
]

/** Attributes as claims. The provider is responsible for its e-mail domains, so that the addresses it sends are verified. */
function claimsIn(assertion: Assertion, emailAttribute: string | undefined): Claims & { sub: string } {
  const values = valuesOf(assertion)
  const oneOrAll = (name: string): string | readonly string[] | undefined => {
    const found = values.get(name)
    return found?.length === 1 ? found[0] : found
  }
  const [{ _: name, $: about }] = assertion.Subject[0].NameID
  const usual = usualNames.flatMap(([claim, names]) => {
    const known = values.has(claim) ? claim : names.find((one) => values.has(one))
    return known === undefined ? [] : [[claim, oneOrAll(known)] as const]
  })
  const claims = Object.fromEntries([...[...values.keys()].map((one) => [one, oneOrAll(one)] as const), ...usual])
  const mapped = emailAttribute === undefined ? claims.email : oneOrAll(emailAttribute)
  const email = mapped ?? (about?.Format === EMAIL_FORMAT ? name : undefined)
  const text = Array.isArray(email) ? email[0] : email
  const sub = about?.Format === TRANSIENT ? transientSubject(text) : name
  return { ...claims, email: text, email_verified: true, sub }
}

/** A transient name is another one at each sign-on; then a person is known by the e-mail address. */
function transientSubject(email: unknown): string {
  if (typeof email !== 'string') throw new Error('the subject is transient, and there is no e-mail address')
  return `email:${email.toLowerCase()}`
}

/** The values of each attribute, by its name and its friendly name. */
function valuesOf({ AttributeStatement = [] }: Assertion): Map<string, string[]> {
  const values = new Map<string, string[]>()
  const all = AttributeStatement.flatMap((statement) => (typeof statement === 'string' ? [] : (statement.Attribute ?? [])))
  for (const { $, AttributeValue = [] } of all) {
    const texts = AttributeValue.flatMap(textIn)
    for (const name of new Set([$.Name, $.FriendlyName ?? $.Name])) values.set(name, [...(values.get(name) ?? []), ...texts])
  }
  return values
}

function textIn(value: unknown): string[] {
  const text = typeof value === 'object' && value !== null && '_' in value ? value._ : value
  return typeof text === 'string' && text.trim() !== '' && !text.includes('\0') ? [text.trim()] : []
}
