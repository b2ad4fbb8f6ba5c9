import type { Idp } from '@dendro/api'

type ProviderAddressesProps = { provider: Idp }

/** ProviderAddresses lists what an administrator enters at the provider. */
export const ProviderAddresses = ({ provider }: ProviderAddressesProps) => (
  <section aria-label={`Addresses for ${provider.name}`}>
    <p className="text-soft text-xs">Enter these at the provider:</p>
    <dl className="grid gap-x-3 text-xs max-sm:[&_dt]:mt-1 sm:grid-cols-[max-content_minmax(0,1fr)]">
      {addressesOf(provider).map(([name, address]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="break-all font-mono">{address}</dd>
        </div>
      ))}
    </dl>
  </section>
)

function addressesOf({ id, provider_type }: Idp): readonly (readonly [string, string])[] {
  const base = `${location.origin}/auth/${provider_type === 'SAML' ? 'saml' : 'oidc'}/${id}`
  const page = `${location.origin}/app/sign-in`
  if (provider_type === 'SAML')
    return [
      ['Metadata of Dendro', `${base}/metadata`],
      ['Reply address (ACS)', `${base}/acs`],
      ['Logout', `${base}/logout`],
    ]
  return [
    ['Redirect, also after logout', page],
    ['Back-channel logout', `${base}/logout`],
    ['Front-channel logout', `${base}/front-channel-logout`],
  ]
}
