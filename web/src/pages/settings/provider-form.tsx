import type { Idp } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Form, FormField, type TextOf } from '../../parts/records/form.tsx'
import { recordsOf } from '../../parts/records/pages.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { ProviderAddresses } from './provider-addresses.tsx'
import { isSameSet, RolePicker } from './role-picker.tsx'
import { USERS } from './users.tsx'

export const IDPS = ['identity providers']
export const RIGHTS = { write: 'access_write', delete: 'access_delete' } as const
/** STORED is the placeholder of a secret that is not shown and stays unchanged. */
const STORED = '***'
const SCOPES = 'openid email profile'
const PASSWORD = 'Password'

const domainsIn = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '')

type Protocol = Idp['provider_type']
const protocols: readonly (readonly [Protocol, string])[] = [
  ['OIDC', 'OpenID Connect'],
  ['SAML', 'SAML 2.0'],
]

/** Choices are the parts of a provider that are no text fields. */
type Choices = { isRequired: boolean; localAdministrator: string; acceptsUnasked: boolean; deactivates: boolean }

const choicesOf = (provider: Idp | undefined): Choices => ({
  isRequired: provider?.is_required ?? false,
  localAdministrator: provider?.local_administrator ?? '',
  acceptsUnasked: provider?.accept_idp_initiated ?? false,
  deactivates: provider?.deactivate_refused ?? false,
})

type ProviderFormProps = { provider: Idp | undefined; onEnd(): void }

/** ProviderForm creates or changes an identity provider. */
export function ProviderForm({ provider, onEnd }: ProviderFormProps) {
  const client = useClient()
  const before = provider?.default_roles ?? []
  const [roles, setRoles] = useState<readonly string[]>(before)
  const [protocol, setProtocol] = useState<Protocol>(provider?.provider_type ?? 'OIDC')
  const [choices, setChoices] = useState(choicesOf(provider))
  const pick = (change: Partial<Choices>) => setChoices({ ...choices, ...change })
  const isSame = JSON.stringify(choices) === JSON.stringify(choicesOf(provider)) && isSameSet(roles, before)
  const send = async (text: TextOf) => {
    const minutes = text('minutes')
    const common = {
      identifiers: domainsIn(text('domains')),
      default_roles: [...roles],
      attribute_mappings: attributesIn(text, protocol),
      session_minutes: minutes === '' ? null : Number(minutes),
      is_required: choices.isRequired,
      ...(choices.localAdministrator === '' ? {} : { local_administrator: choices.localAdministrator }),
    }
    const body = { ...common, ...(protocol === 'SAML' ? samlFields(text, choices) : openIdFields(text, choices)) }
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
      isDirty={provider ? !isSame : undefined}
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
      {provider && <ProviderAddresses provider={provider} />}
      <FormField name="E-mail domains" of="identifiers" help="Separated by commas; their users sign in here.">
        <Input name="domains" autoComplete="off" defaultValue={provider?.identifiers.join(', ')} placeholder="example.org" />
      </FormField>
      <div className="flex flex-wrap items-center gap-2">
        Roles of users to whom no mapping gives one: <RolePicker type="USER" picked={roles} onPick={setRoles} />
      </div>
      <AttributeFields provider={provider} protocol={protocol} />
      <RequiredFields choices={choices} onPick={pick} />
      <SessionFields provider={provider} protocol={protocol} choices={choices} onPick={pick} />
    </Form>
  )
}

type FieldsProps = { provider: Idp | undefined }

const SamlFields = ({ provider }: FieldsProps) => (
  <>
    <FormField name="Metadata of the provider" of="meta_cert" help="The XML document that the provider publishes.">
      <TextArea name="metadata" required rows={6} maxLength={200_000} className="font-mono text-xs" defaultValue={provider?.meta_cert} />
    </FormField>
    <FormField name="Entity id of Dendro" of="app_client_id" help="The provider knows Dendro by it. If empty, Dendro chooses one.">
      <Input name="entity" maxLength={1024} autoComplete="off" defaultValue={provider?.app_client_id} placeholder="urn:uuid:…" />
    </FormField>
  </>
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
    <FormField name="Scopes" of="scopes" help="Some providers need one for groups, and offline_access to be asked about users later.">
      <Input name="scopes" required maxLength={1000} autoComplete="off" defaultValue={provider?.scopes ?? SCOPES} />
    </FormField>
  </>
)

function openIdFields(text: TextOf, { deactivates }: Choices) {
  const secret = text('secret')
  const fields = { issuer_url: text('issuer'), client_id: text('client'), scopes: text('scopes'), deactivate_refused: deactivates }
  return secret === STORED ? fields : { ...fields, client_secret: secret }
}

function samlFields(text: TextOf, { acceptsUnasked }: Choices) {
  const entity = text('entity')
  const fields = { meta_cert: text('metadata'), accept_idp_initiated: acceptsUnasked }
  return entity === '' ? fields : { ...fields, app_client_id: entity }
}

/** attributes are the parts of a user that a provider may name in another way; the e-mail address only by SAML. */
const attributes = [
  ['first_name', 'First name', 'given_name'],
  ['last_name', 'Last name', 'family_name'],
  ['email', 'E-mail address', 'email'],
] as const

const attributesOf = (protocol: Protocol) => attributes.filter(([attribute]) => attribute !== 'email' || protocol === 'SAML')

const attributesIn = (text: TextOf, protocol: Protocol): Idp['attribute_mappings'] =>
  attributesOf(protocol).flatMap(([user_attr]) => {
    const provider_attr = text(user_attr)
    return provider_attr === '' ? [] : [{ provider_attr, user_attr }]
  })

const AttributeFields = ({ provider, protocol }: FieldsProps & { protocol: Protocol }) => (
  <fieldset className="flex flex-wrap gap-2">
    <legend className="mb-1">Attributes of the provider, if it names them in its own way</legend>
    {attributesOf(protocol).map(([attribute, name, usual]) => (
      <FormField key={attribute} name={name} of="attribute_mappings" className="min-w-36 flex-1">
        <Input
          name={attribute}
          maxLength={255}
          autoComplete="off"
          placeholder={usual}
          defaultValue={provider?.attribute_mappings.find(({ user_attr }) => user_attr === attribute)?.provider_attr}
        />
      </FormField>
    ))}
  </fieldset>
)

type ChoiceProps = { choices: Choices; onPick(change: Partial<Choices>): void }

/** How many administrators are offered as the way back in. */
const ADMINISTRATORS_MAX = 1_000

/** RequiredFields is whether the domains must use single sign-on, and who is the way back in. */
function RequiredFields({ choices, onPick }: ChoiceProps) {
  const client = useClient()
  const { localAdministrator } = choices
  const users = useQuery({
    queryKey: [...USERS, 'administrators', localAdministrator],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const [active, chosen] = await Promise.all([
        client.users.list({ query: { status: 'ACTIVE', role: 'Administrator', limit: ADMINISTRATORS_MAX, sort: 'name' }, signal }),
        localAdministrator === '' ? undefined : client.users.list({ query: { user_ids: [localAdministrator], limit: 1 }, signal }),
      ])
      return { users: recordsOf([active.users, chosen?.users ?? []]) }
    },
  })
  const admins = (users.data?.users ?? []).filter(
    ({ id, roles, login_methods, status }) =>
      id === choices.localAdministrator ||
      (status === 'ACTIVE' && roles.includes('Administrator') && login_methods.some(({ name, enabled }) => name === PASSWORD && enabled)),
  )
  const options = [
    ['', admins.length === 0 ? 'nobody has a password and all permissions' : 'Select…'] as const,
    ...admins.map(({ id, email }) => [id, email] as const),
  ]
  return (
    <>
      <Choice isOn={choices.isRequired} onPick={(isRequired) => onPick({ isRequired })}>
        Users with these domains must use single sign-on; their passwords are refused
      </Choice>
      <FormField
        name="Local administrator"
        of="local_administrator"
        help="The way back in: this Administrator can always sign in with the password. Required if passwords are refused."
      >
        <Select
          className="max-w-96"
          value={choices.localAdministrator}
          options={options}
          required={choices.isRequired}
          onPick={(localAdministrator) => onPick({ localAdministrator })}
        />
      </FormField>
    </>
  )
}

const SessionFields = ({ provider, protocol, choices, onPick }: FieldsProps & ChoiceProps & { protocol: Protocol }) => (
  <>
    <FormField
      name="Longest session in minutes"
      of="session_minutes"
      help={
        protocol === 'SAML'
          ? '5 to 720; an hour if empty. A SAML provider cannot be asked whether it still knows a user.'
          : '5 to 720, for sessions without a refresh token; if empty, as long as the access token. With one, the provider is asked every three minutes.'
      }
    >
      <Input name="minutes" type="number" min={5} max={720} step={1} className="max-w-36" defaultValue={provider?.session_minutes} />
    </FormField>
    {protocol === 'SAML' ? (
      <Choice isOn={choices.acceptsUnasked} onPick={(acceptsUnasked) => onPick({ acceptsUnasked })}>
        Accept sign-ons from the page of the provider. Somebody else can then sign a user on as themselves
      </Choice>
    ) : (
      <Choice isOn={choices.deactivates} onPick={(deactivates) => onPick({ deactivates })}>
        Deactivate users whom the provider refuses when it is asked again, until they sign on
      </Choice>
    )}
  </>
)

const Choice = ({ isOn, onPick, children }: { isOn: boolean; onPick(isOn: boolean): void; children: ReactNode }) => (
  <label className="flex items-start gap-2">
    <input type="checkbox" className="mt-1" checked={isOn} onChange={(event) => onPick(event.target.checked)} />
    <span>{children}</span>
  </label>
)
