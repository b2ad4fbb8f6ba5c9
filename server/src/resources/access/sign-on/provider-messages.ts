import { buffer } from 'node:stream/consumers'
import { isUuid } from '@dendro/api'
import type { RequestFacts } from '../../../http/actor.ts'
import { failureBody } from '../../../http/failure-body.ts'
import type { FindRawHandler, OpenCall, RawReply } from '../../../http/raw-handler.ts'
import { badField, Failure, notFound } from '../../../kernel/errors.ts'
import { toJson } from '../../../kernel/exact-json.ts'
import type { World } from '../../../world.ts'
import { type IdpRow, idpById } from '../sso/sso.ts'
import { takeFrontChannelLogout } from './logout.ts'
import { takeLogoutToken } from './openid-logout.ts'
import { RETURN_PAGE } from './pending.ts'
import { takeSamlAnswer } from './saml-answers.ts'
import { serviceMetadata } from './saml-client.ts'
import { takeSamlLogout } from './saml-logout.ts'

type Message = { world: World; facts: RequestFacts; idp: IdpRow; query: string; form: () => Promise<URLSearchParams> }
type Reply = { status: number; headers?: Record<string, string>; body?: string }
type Receive = (message: Message) => Promise<Reply>

const FORM = 'application/x-www-form-urlencoded'
const FORM_BYTES_MAX = 1_024 * 1_024

const paths: readonly { name: string; path: RegExp; type: IdpRow['provider_type']; methods: Record<string, Receive> }[] = [
  {
    name: 'samlMetadata',
    path: /^\/auth\/saml\/([\da-f-]{36})\/metadata$/i,
    type: 'SAML',
    methods: {
      GET: async ({ world, facts, idp }) => ({
        status: 200,
        headers: { 'content-type': 'application/samlmetadata+xml; charset=utf-8' },
        body: await serviceMetadata(world, idp, facts.baseUrl),
      }),
    },
  },
  {
    name: 'samlAnswer',
    path: /^\/auth\/saml\/([\da-f-]{36})\/acs$/i,
    type: 'SAML',
    methods: {
      POST: async ({ world, facts, idp, form }) => {
        const { location, cookie } = await takeSamlAnswer(world, facts, idp, oneOf(await form(), 'SAMLResponse'))
        return seeOther(location, cookie)
      },
    },
  },
  {
    // An answer to a logout that began here says nothing that counts: the session has ended already.
    name: 'samlLogout',
    path: /^\/auth\/saml\/([\da-f-]{36})\/logout$/i,
    type: 'SAML',
    methods: {
      GET: async ({ world, facts, idp, query }) => {
        const params = new URLSearchParams(query)
        if (params.has('SAMLResponse')) return seeOther(`${facts.baseUrl}${RETURN_PAGE}`)
        oneOf(params, 'SAMLRequest')
        return ended(await takeSamlLogout(world, facts, idp, { query }))
      },
      POST: async ({ world, facts, idp, form: read }) => {
        const form = await read()
        if (form.has('SAMLResponse')) return seeOther(`${facts.baseUrl}${RETURN_PAGE}`)
        oneOf(form, 'SAMLRequest')
        return ended(await takeSamlLogout(world, facts, idp, { form }))
      },
    },
  },
  {
    name: 'openIdLogout',
    path: /^\/auth\/oidc\/([\da-f-]{36})\/logout$/i,
    type: 'OIDC',
    methods: {
      POST: async ({ world, facts, idp, form }) => {
        await takeLogoutToken(world, facts, idp, oneOf(await form(), 'logout_token'))
        return { status: 200 }
      },
    },
  },
  {
    name: 'openIdFrontChannelLogout',
    path: /^\/auth\/oidc\/([\da-f-]{36})\/front-channel-logout$/i,
    type: 'OIDC',
    methods: {
      GET: async ({ world, facts, idp, query }) => {
        await takeFrontChannelLogout(world, facts, idp, query)
        return { ...ended(undefined), headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' } }
      },
    },
  },
]

const ended = (location: string | undefined): Reply =>
  location === undefined
    ? { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'Signed out.' }
    : seeOther(location)

const seeOther = (location: string, cookie?: string): Reply => ({
  status: 303,
  headers: { location, 'referrer-policy': 'no-referrer', ...(cookie === undefined ? {} : { 'set-cookie': cookie }) },
})

/** Finds what serves the messages of identity providers, which are no calls of the API: their senders are known by signatures. */
export const openProviderMessages =
  (world: World): FindRawHandler =>
  (head) => {
    const found = paths.find(({ path }) => path.test(head.path))
    if (!found) return undefined
    return {
      action: `signOn.${found.name}`,
      permission: 'any',
      handleOpen: (call) => receive(world, found, call),
      // Never called, since handleOpen serves all requests.
      handle: async () => {
        throw notFound('path')
      },
      replyToFailure: (_head, failure, correlationId) => ({
        status: failure.status,
        headers: { ...failure.headers, 'content-type': 'application/json; charset=utf-8', 'x-correlation-id': correlationId },
        body: toJson(failureBody(failure, correlationId)) ?? '',
      }),
    }
  }

async function receive(world: World, found: (typeof paths)[number], call: OpenCall): Promise<RawReply> {
  const { facts, head } = call
  const run = found.methods[head.method === 'HEAD' ? 'GET' : head.method]
  const allow = Object.keys(found.methods).join(', ')
  if (!run) throw new Failure(405, `${head.method.slice(0, 20)} is not available on this path; use ${allow}`, { headers: { allow } })
  const id = found.path.exec(head.path)?.[1]?.toLowerCase() ?? ''
  const idp = isUuid(id) ? await idpById(world, id) : undefined
  if (idp?.provider_type !== found.type) throw notFound('identity provider', id)
  const { status, headers = {}, body = '' } = await run({ world, facts, idp, query: head.search ?? '', form: () => readForm(call) })
  return { status, headers, body }
}

async function readForm({ head, body }: OpenCall): Promise<URLSearchParams> {
  if (head.headers['content-type']?.split(';')[0]?.trim().toLowerCase() !== FORM) throw new Failure(415, `the content type must be ${FORM}`)
  const tooLarge = new Failure(413, `a form has at most ${FORM_BYTES_MAX} bytes`)
  if (Number(head.headers['content-length'] ?? 0) > FORM_BYTES_MAX) throw tooLarge
  let bytes = 0
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > FORM_BYTES_MAX) body.destroy(tooLarge)
  })
  return new URLSearchParams((await buffer(body)).toString('utf8'))
}

function oneOf(form: URLSearchParams, name: string): string {
  const [value, ...others] = form.getAll(name)
  if (!value || others.length > 0) throw badField(name, 'must be given once')
  return value
}
