import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import type { Profile } from '@node-saml/node-saml'
import type { RequestFacts } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { beginAttempt } from '../auth/auth.ts'
import { type IdpRow, metadataOfProvider } from '../sso/sso.ts'
import { endSessions } from './ending.ts'
import { withProvider } from './provider-failures.ts'
import { checkedRoot, isTransient, openSaml, samlAddresses, signatureAlgorithms } from './saml-client.ts'

/** A request to end sessions, in the address or in the form by which a browser brought it. */
export type LogoutMessage = { query: string } | { form: URLSearchParams }

type Read = { profile: Profile; relayState: string; expiresAtMs: number }

const REQUEST_BYTES_MAX = 256 * 1_024
const RELAY_STATE_LENGTH_MAX = 1_000
const AGE_MAX_MS = 10 * 60_000
const SKEW_MS = 60_000
const inflated = promisify(inflateRaw)

/** Ends the sessions that the provider names. Returns where the browser tells the provider so; undefined if the provider does not want to know. */
export async function takeSamlLogout(world: World, facts: RequestFacts, idp: IdpRow, message: LogoutMessage): Promise<string | undefined> {
  const attempt = await beginAttempt(world, undefined, facts.address)
  const location = await withProvider(world, facts, idp, async () => {
    const saml = await openSaml(world, idp, facts.baseUrl)
    const read =
      'query' in message ? await readAddress(world, idp, facts, saml, message.query) : await readForm(world, idp, facts, saml, message.form)
    const { profile, expiresAtMs } = read
    const subject = isTransient(profile.nameIDFormat) ? undefined : profile.nameID
    await endSessions(world, facts, idp, { id: String(profile.ID), expiresAtMs, subject, session: profile.sessionIndex })
    if (metadataOfProvider(idp).logoutUrl === undefined) return undefined
    return saml.getLogoutResponseUrlAsync(profile, read.relayState, {}, true)
  })
  await attempt.withdrawn()
  return location
}

type Saml = Awaited<ReturnType<typeof openSaml>>

/** Reads a request in an address, whose signature covers the parameters as they were sent. */
async function readAddress(world: World, idp: IdpRow, { baseUrl }: RequestFacts, saml: Saml, query: string): Promise<Read> {
  const given = parametersIn(query)
  const { SAMLRequest, RelayState, SigAlg, Signature } = given.values
  if (!SAMLRequest) throw new Error('there is no request')
  // Without a signature, the library would accept the request.
  if (!Signature || !SigAlg) throw new Error('the request is not signed')
  if (!signatureAlgorithms.has(SigAlg)) throw new Error('the algorithm of the signature is not accepted')
  const xml = (await inflated(Buffer.from(SAMLRequest, 'base64'), { maxOutputLength: REQUEST_BYTES_MAX })).toString('utf8')
  const expiresAtMs = checkRequest(world, idp, baseUrl, xml)
  const container = { SAMLRequest, SigAlg, Signature, ...(RelayState === undefined ? {} : { RelayState }) }
  const { profile } = await saml.validateRedirectAsync(container, given.signed)
  if (!profile) throw new Error('the request names nobody')
  return { profile, relayState: (RelayState ?? '').slice(0, RELAY_STATE_LENGTH_MAX), expiresAtMs }
}

async function readForm(world: World, idp: IdpRow, { baseUrl }: RequestFacts, saml: Saml, form: URLSearchParams): Promise<Read> {
  const SAMLRequest = form.get('SAMLRequest')
  if (!SAMLRequest) throw new Error('there is no request')
  const expiresAtMs = checkRequest(world, idp, baseUrl, Buffer.from(SAMLRequest, 'base64').toString('utf8'))
  const { profile } = await saml.validatePostRequestAsync({ SAMLRequest })
  if (!profile) throw new Error('the request names nobody')
  return { profile, relayState: (form.get('RelayState') ?? '').slice(0, RELAY_STATE_LENGTH_MAX), expiresAtMs }
}

/** Checks what the library does not, and returns when the request can no longer count. */
function checkRequest(world: World, idp: IdpRow, baseUrl: string, xml: string): number {
  const root = checkedRoot(xml, 'LogoutRequest')
  const destination = root.getAttribute('Destination')
  if (destination && destination !== samlAddresses(baseUrl, idp.id).logout) throw new Error('the request is for another destination')
  const issuedMs = Date.parse(root.getAttribute('IssueInstant') ?? '')
  const ageMs = world.clock.nowMs() - issuedMs
  if (!(ageMs > -SKEW_MS && ageMs < AGE_MAX_MS + SKEW_MS)) throw new Error('the request is not of now')
  return issuedMs + AGE_MAX_MS + 2 * SKEW_MS
}

const PARAMETERS = ['SAMLRequest', 'RelayState', 'SigAlg', 'Signature'] as const

/** The parameters that are given once, and those that are signed, encoded as they were sent and in the order in which they are signed. */
function parametersIn(query: string): { values: Partial<Record<(typeof PARAMETERS)[number], string>>; signed: string } {
  const values: Partial<Record<(typeof PARAMETERS)[number], string>> = {}
  const signed: string[] = []
  for (const name of PARAMETERS) {
    const [found, ...others] = query.split('&').filter((part) => part.startsWith(`${name}=`))
    if (others.length > 0) throw new Error(`${name} is given several times`)
    if (found === undefined) continue
    values[name] = new URLSearchParams(found).get(name) ?? ''
    if (name !== 'Signature') signed.push(found)
  }
  return { values, signed: signed.join('&') }
}
