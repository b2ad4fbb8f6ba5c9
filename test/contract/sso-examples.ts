import { randomUUID } from 'node:crypto'
import { CLIENT, type IdentityProvider, openIdentityProvider } from '../support/identity-provider.ts'
import type { Maker } from './stage.ts'

export const idpRequest = ({ word }: Maker, issuer: string) => ({
  name: word('provider'),
  provider_type: 'OIDC',
  identifiers: ['example.org'],
  issuer_url: issuer,
  client_id: CLIENT.id,
  client_secret: CLIENT.secret,
  accept_idp_initiated: false,
  attribute_mappings: [{ provider_attr: 'given_name', user_attr: 'first_name' }],
  default_roles: ['Standard'],
})

export async function keptIdp(maker: Maker): Promise<string> {
  return (await maker.made<{ name: string }>('/sso/idps', idpRequest(maker, 'https://provider.example'))).name
}

export async function keptMapping(maker: Maker): Promise<string> {
  const mapping = { provider_key: 'groups', provider_value: randomUUID(), assign_attr: 'Standard' }
  return (await maker.made<{ id: string }>('/sso/mappings', mapping)).id
}

const providers = new Map<string, Promise<IdentityProvider>>()

/** A provider that can be reached; there is one for each service. */
export async function signOnProvider(maker: Maker): Promise<{ id: string; provider: IdentityProvider }> {
  const page = `${maker.app.url}/app/sign-in`
  const opening = providers.get(page) ?? openIdentityProvider(page)
  providers.set(page, opening)
  const provider = await opening
  return { id: (await maker.made<{ id: string }>('/sso/idps', idpRequest(maker, provider.issuer))).id, provider }
}

export async function signOnAnswer(maker: Maker) {
  const { id, provider } = await signOnProvider(maker)
  const begun = await maker.app.ask<{ url: string }>('POST', '/auth/sso/start', { body: { provider: id } })
  const sub = randomUUID()
  const answer = await provider.authorize(begun.body.url, { sub, email: `${sub}@example.org`, email_verified: true })
  return { body: { answer }, headers: { cookie: (begun.headers.get('set-cookie') ?? '').split(';')[0] ?? '' } }
}
