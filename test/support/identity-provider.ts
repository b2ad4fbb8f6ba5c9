import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

export const CLIENT = { id: 'dendro', secret: 'a-secret-of-the-client-of-a-test' }

/** A person as the identity provider knows them. */
export type ProvidedClaims = { sub: string; email?: string; email_verified?: boolean } & Record<string, unknown>

export type IdentityProvider = {
  issuer: string
  /** Signs the person in at the provider, with the address of a start, and returns the query string of the redirect back. */
  authorize(url: string, person: ProvidedClaims): Promise<string>
  /** The next browser that asks the provider is that of this person. */
  expect(person: ProvidedClaims): void
  /** Whether sign-ons from now on get a refresh token. */
  refreshes(is: boolean): void
  /** Removes a person, as an administrator of the provider does. */
  remove(sub: string): void
  /** Undoes a removal. */
  admit(sub: string): void
  /** Answers every request with this status, until it is undefined. */
  fail(status: number | undefined): void
  /** The requests to the token endpoint and for the user info. */
  requests(): number
  close(): Promise<void>
}

/** A real OpenID provider in this process, which asks nobody anything: the person of `authorize` signs in and consents. */
export async function openIdentityProvider(redirectUri: string): Promise<IdentityProvider> {
  const people = new Map<string, ProvidedClaims>()
  const removed = new Set<string>()
  let [grantsRefresh, requests] = [false, 0]
  let failing: number | undefined
  const waiting: ProvidedClaims[] = []
  let answer: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  server.unref()
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    issueRefreshToken: async () => grantsRefresh,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name', 'name', 'groups'] },
    cookies: { keys: ['for tests'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, id) => (removed.has(id) ? undefined : { accountId: id, claims: () => people.get(id) ?? { sub: id } }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  })
  const serve = provider.callback()
  const interact = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const person = waiting.shift()
    if (!person) throw new Error('nobody signs in')
    people.set(person.sub, person)
    const grant = new provider.Grant({ accountId: person.sub, clientId: CLIENT.id })
    grant.addOIDCScope('openid email profile')
    await provider.interactionFinished(request, response, { login: { accountId: person.sub }, consent: { grantId: await grant.save() } })
  }
  answer = (request, response) => {
    if (failing !== undefined) return response.writeHead(failing).end()
    if (request.url?.startsWith('/interaction/')) return interact(request, response)
    if (/^\/(token|me)/.test(request.url ?? '')) requests++
    return serve(request, response)
  }
  return {
    issuer,
    expect: (person) => void waiting.push(person),
    refreshes: (is) => {
      grantsRefresh = is
    },
    remove: (sub) => void removed.add(sub),
    admit: (sub) => void removed.delete(sub),
    fail: (status) => {
      failing = status
    },
    requests: () => requests,
    authorize: async (url, person) => {
      waiting.push(person)
      const cookies = new Map<string, string>()
      let next = url
      while (!next.startsWith(redirectUri)) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
        const response = await fetch(next, { headers: { cookie }, redirect: 'manual' })
        for (const set of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
          cookies.set(name, value)
        }
        const location = response.headers.get('location')
        if (!location) throw new Error(`the provider answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
        next = new URL(location, next).href
      }
      return new URL(next).search
    },
    close: () => new Promise((closed) => server.close(() => closed())),
  }
}
