import { useQuery } from '@tanstack/react-query'
import { RecordPanel } from '../../parts/records/record-panel.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Directory } from './directory.tsx'
import { IDPS, ProviderForm, RIGHTS } from './provider-form.tsx'
import { Mappings } from './sign-on-mappings.tsx'
import { SignOnPreview } from './sign-on-preview.tsx'

/** SignOn manages the identity providers of the organization, what their users get, and the directory that manages users. */
export function SignOn() {
  return (
    <>
      <p className="text-soft">
        Users sign in with the identity provider of their e-mail domain. The redirect address of OpenID Connect is{' '}
        <code className="wrap-anywhere font-mono text-xs">{`${location.origin}/app/sign-in`}</code>; a SAML provider reads the metadata of
        Dendro, whose address is in the list.
      </p>
      <Providers />
      <Mappings />
      <SignOnPreview />
      <Directory />
    </>
  )
}

function Providers() {
  const client = useClient()
  const list = useQuery({ queryKey: IDPS, queryFn: ({ signal }) => client.sso.idps({ signal }) })
  return (
    <RecordPanel
      rights={RIGHTS}
      title="Identity providers"
      noun="identity provider"
      list={list}
      itemsOf={({ idps }) => idps}
      stale={IDPS}
      columns={['Name', 'Issuer, or metadata for the provider', 'E-mail domains', 'Passwords']}
      empty="No identity providers yet. Users sign in with a password."
      idOf={({ id }) => id}
      nameOf={({ name }) => name}
      cellsOf={({ id, name, provider_type, issuer_url, identifiers, is_required }) => [
        name,
        <span key="issuer" className="break-all font-mono text-xs">
          {provider_type === 'SAML' ? `${location.origin}/auth/saml/${id}/metadata` : issuer_url}
        </span>,
        identifiers.join(', '),
        is_required ? 'refused' : 'allowed',
      ]}
      form={(provider, onEnd) => <ProviderForm provider={provider} onEnd={onEnd} />}
      deletionOf={({ name }) =>
        `Delete “${name}” with its mappings? Its sessions end, yours too if you signed in with it. Users who have no password can no longer sign in.`
      }
      onDelete={({ name }) => client.sso.removeIdp({ params: { name } })}
    />
  )
}
