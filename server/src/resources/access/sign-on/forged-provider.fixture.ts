import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, type GenerateKeyPairResult, SignJWT } from 'jose'

/** How an ID token differs from an honest one, and what the answer says besides. */
export type Forgery = {
  header?: object
  claims?: object
  sign?: (parts: { header: object; claims: object }) => Promise<string>
  answer?: string
}
export type ForgedProvider = {
  issuer: string
  code: (forgery: Forgery, url: string) => string
  /** Answers sign-ons from now on with a refresh token, and what redeems it with this. */
  refresh(forgery: Forgery): void
  /** Changes what the provider publishes about itself. */
  describe(over: Record<string, string>): void
  close(): Promise<void>
}

/** A provider that signs the ID tokens of a test as the test says. */
export async function openForgedProvider(keys: GenerateKeyPairResult): Promise<ForgedProvider> {
  const tokens: { forgery: Forgery; nonce: string | null }[] = []
  const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', use: 'sig', alg: 'RS256' }] }
  let refreshing: Forgery | undefined
  let described: Record<string, string> = {}
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(await reply(request.url ?? '', new URLSearchParams(await text(request)))))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const reply = async (url: string, sent: URLSearchParams): Promise<object> => {
    if (url === '/jwks') return jwks
    if (url !== '/token')
      return {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        ...described,
      }
    const isRefresh = sent.get('grant_type') === 'refresh_token'
    const { forgery, nonce } = (isRefresh ? undefined : tokens.shift()) ?? { forgery: refreshing ?? {}, nonce: undefined }
    const nowS = Math.floor(Date.now() / 1_000)
    const person = { sub: 'mallory', email: 'mallory@forged.example', email_verified: true }
    const claims = { iss: issuer, aud: 'dendro', iat: nowS, exp: nowS + 300, nonce, ...person, ...forgery.claims }
    const header = { alg: 'RS256', kid: 'one', ...forgery.header }
    const signed = forgery.sign ?? (() => new SignJWT(claims).setProtectedHeader(header).sign(keys.privateKey))
    const refresh = refreshing ? { refresh_token: 'r' } : {}
    return { access_token: 'x', token_type: 'Bearer', id_token: await signed({ header, claims }), ...refresh }
  }
  return {
    issuer,
    code: (forgery, url) => {
      const requested = new URL(url).searchParams
      tokens.push({ forgery, nonce: requested.get('nonce') })
      return `code=x&state=${requested.get('state')}${forgery.answer ?? ''}`
    },
    refresh: (forgery) => {
      refreshing = forgery
    },
    describe: (over) => {
      described = over
    },
    close: () => new Promise((closed) => server.close(() => closed())),
  }
}
