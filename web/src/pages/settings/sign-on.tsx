import type { Idp, SsoMapping } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Form, FormField, type TextOf } from '../../parts/records/form.tsx'
import { RecordPanel } from '../../parts/records/record-panel.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { isSameSet, RolePicker, useRoleNames } from './role-picker.tsx'

const IDPS = ['identity providers']
const MAPPINGS = ['sign-on mappings']
/** STORED is the placeholder of a secret that is not shown and stays unchanged. */
const STORED = '***'
const SCOPES = 'openid email profile'
const RIGHTS = { write: 'access_write', delete: 'access_delete' } as const

/** SignOn manages the identity providers of the organization, and what their users get. */
export function SignOn() {
  return (
    <>
      <p className="text-soft">
        Users sign in with the identity provider of their e-mail domain. The redirect address of OpenID Connect is{' '}
        <code className="break-all font-mono text-xs">{`${location.origin}/app/sign-in`}</code>; a SAML provider reads the metadata of
        Dendro, whose address is in the list.
      </p>
      <Providers />
      <Mappings />
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
      deletionOf={({ name }) => `Delete “${name}” with its mappings? Users who have no password can no longer sign in.`}
      onDelete={({ name }) => client.sso.removeIdp({ params: { name } })}
    />
  )
}

const domainsIn = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '')

type Protocol = Idp['provider_type']
const protocols: readonly (readonly [Protocol, string])[] = [
  ['OIDC', 'OpenID Connect'],
  ['SAML', 'SAML 2.0'],
]

function ProviderForm({ provider, onEnd }: { provider: Idp | undefined; onEnd(): void }) {
  const client = useClient()
  const before = provider?.default_roles ?? []
  const [roles, setRoles] = useState<readonly string[]>(before)
  const [protocol, setProtocol] = useState<Protocol>(provider?.provider_type ?? 'OIDC')
  const send = async (text: TextOf) => {
    const common = { identifiers: domainsIn(text('domains')), default_roles: [...roles] }
    const body = { ...common, ...(protocol === 'SAML' ? { meta_cert: text('metadata') } : openIdFields(text)) }
    if (provider) await client.sso.updateIdp({ params: { name: provider.name }, body })
    else await client.sso.createIdp({ body: { ...body, name: text('name'), provider_type: protocol } })
  }
  return (
    <Form
      action={provider ? 'Save' : 'Create identity provider'}
      label={provider ? `Edit ${provider.name}` : 'New identity provider'}
      layout="column"
      stale={IDPS}
      conflict="name"
      isDirty={provider ? !isSameSet(roles, before) : undefined}
      onSend={send}
      onSaved={onEnd}
      onCancel={onEnd}
    >
      {!provider && (
        <div className="flex flex-wrap gap-2">
          <FormField name="Name" of="name">
            <Input name="name" required maxLength={255} autoComplete="off" />
          </FormField>
          <Field name="Protocol">
            <Select value={protocol} options={protocols} onPick={setProtocol} />
          </Field>
        </div>
      )}
      {protocol === 'SAML' ? <SamlFields provider={provider} /> : <OpenIdFields provider={provider} />}
      <FormField name="E-mail domains" of="identifiers" help="Separated by commas; their users sign in here.">
        <Input name="domains" autoComplete="off" defaultValue={provider?.identifiers.join(', ')} placeholder="example.org" />
      </FormField>
      <div className="flex flex-wrap items-center gap-2">
        Roles of users to whom no mapping gives one: <RolePicker type="USER" picked={roles} onPick={setRoles} />
      </div>
    </Form>
  )
}

type FieldsProps = { provider: Idp | undefined }

const SamlFields = ({ provider }: FieldsProps) => (
  <FormField name="Metadata of the provider" of="meta_cert" help="The XML document that the provider publishes.">
    <TextArea name="metadata" required rows={6} maxLength={200_000} className="font-mono text-xs" defaultValue={provider?.meta_cert} />
  </FormField>
)

const OpenIdFields = ({ provider }: FieldsProps) => (
  <>
    <FormField name="Issuer" of="issuer_url">
      <Input name="issuer" type="url" required maxLength={2048} defaultValue={provider?.issuer_url} placeholder="https://…" />
    </FormField>
    <div className="flex flex-wrap gap-2">
      <FormField name="Client id" of="client_id" className="min-w-48 flex-1">
        <Input name="client" required maxLength={1000} autoComplete="off" defaultValue={provider?.client_id} />
      </FormField>
      <FormField name="Client secret" of="client_secret" className="min-w-48 flex-1">
        <Input name="secret" required maxLength={4000} autoComplete="off" defaultValue={provider ? STORED : ''} />
      </FormField>
    </div>
    <FormField name="Scopes" of="scopes" help="What the provider is asked for; some need one for groups.">
      <Input name="scopes" required maxLength={1000} autoComplete="off" defaultValue={provider?.scopes ?? SCOPES} />
    </FormField>
  </>
)

function openIdFields(text: TextOf) {
  const secret = text('secret')
  const fields = { issuer_url: text('issuer'), client_id: text('client'), scopes: text('scopes') }
  return secret === STORED ? fields : { ...fields, client_secret: secret }
}

function Mappings() {
  const client = useClient()
  const nameOf = useRoleNames()
  const list = useQuery({ queryKey: MAPPINGS, queryFn: ({ signal }) => client.sso.mappings({ signal }) })
  return (
    <RecordPanel
      rights={RIGHTS}
      title="Mappings"
      noun="mapping"
      list={list}
      itemsOf={({ mappings }) => mappings}
      stale={MAPPINGS}
      columns={['Claim', 'Value', 'Gives', 'Provider']}
      empty="No mappings yet. A mapping gives a role or a group to the users of whom a provider says something."
      idOf={({ id }) => id}
      nameOf={({ provider_key, provider_value }) => `${provider_key} = ${provider_value}`}
      cellsOf={({ provider_key, provider_value, assign_attr, idp }) => [
        <code key="claim">{provider_key}</code>,
        <code key="value" className="break-all">
          {provider_value}
        </code>,
        nameOf(assign_attr),
        idp ?? 'all',
      ]}
      form={(mapping, onEnd) => <MappingForm mapping={mapping} onEnd={onEnd} />}
      deletionOf={({ provider_key, provider_value }) =>
        `Delete the mapping of ${provider_key} = ${provider_value}? Users keep the roles that they have.`
      }
      onDelete={({ id }) => client.sso.removeMapping({ query: { id } })}
    />
  )
}

function MappingForm({ mapping, onEnd }: { mapping: SsoMapping | undefined; onEnd(): void }) {
  const client = useClient()
  const send = async (text: TextOf) => {
    const idp = text('idp')
    const body = {
      provider_key: text('claim'),
      provider_value: text('value'),
      assign_attr: text('assign'),
      ...(idp === '' ? {} : { idp }),
    }
    if (mapping) await client.sso.updateMapping({ body: { id: mapping.id, ...body } })
    else await client.sso.createMapping({ body })
  }
  return (
    <Form
      action={mapping ? 'Save' : 'Create mapping'}
      label={mapping ? `Edit the mapping of ${mapping.provider_value}` : 'New mapping'}
      stale={MAPPINGS}
      isDirty={mapping ? false : undefined}
      onSend={send}
      onSaved={onEnd}
      onCancel={onEnd}
    >
      <FormField name="Claim" of="provider_key">
        <Input name="claim" required maxLength={255} autoComplete="off" defaultValue={mapping?.provider_key ?? 'groups'} />
      </FormField>
      <FormField name="Value" of="provider_value">
        <Input name="value" required maxLength={1000} autoComplete="off" defaultValue={mapping?.provider_value} />
      </FormField>
      <FormField name="Gives" of="assign_attr" help="A role, or group: and the id of a group.">
        <Input name="assign" required maxLength={255} autoComplete="off" defaultValue={mapping?.assign_attr} placeholder="Standard" />
      </FormField>
      <FormField name="Provider" of="idp" help="All if empty.">
        <Input name="idp" maxLength={255} autoComplete="off" defaultValue={mapping?.idp} />
      </FormField>
    </Form>
  )
}
