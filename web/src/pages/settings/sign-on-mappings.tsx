import type { SsoMapping } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Form, FormField, type TextOf } from '../../parts/records/form.tsx'
import { RecordPanel } from '../../parts/records/record-panel.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { useMay } from '../../parts/shell/permitted.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { GROUPS } from './groups.tsx'
import { IDPS, RIGHTS } from './provider-form.tsx'
import { useRoleNames, useRoles } from './role-picker.tsx'

const MAPPINGS = ['sign-on mappings']
const GROUP = 'group:'

/** useGroupNames maps ids of groups to names. */
export function useGroupNames(): ReadonlyMap<string, string> {
  const client = useClient()
  const may = useMay()
  const groups = useQuery({ queryKey: GROUPS, enabled: may('groups_read'), queryFn: ({ signal }) => client.groups.list({ signal }) })
  return new Map((groups.data?.groups ?? []).map(({ id, name }) => [id, name]))
}

/** Mappings lists what users get by what a provider says about them. */
export function Mappings() {
  const client = useClient()
  const nameOf = useRoleNames()
  const groups = useGroupNames()
  const list = useQuery({ queryKey: MAPPINGS, queryFn: ({ signal }) => client.sso.mappings({ signal }) })
  const shown = (assign: string): string =>
    assign.startsWith(GROUP) ? `group ${groups.get(assign.slice(GROUP.length)) ?? assign.slice(GROUP.length)}` : nameOf(assign)
  return (
    <RecordPanel
      rights={RIGHTS}
      title="Mappings"
      noun="mapping"
      list={list}
      itemsOf={({ mappings }) => mappings}
      stale={MAPPINGS}
      columns={['Claim', 'Value', 'Gives', 'Provider']}
      empty="No mappings yet. A mapping gives a role or a group to the users who have a certain claim."
      idOf={({ id }) => id}
      nameOf={({ provider_key, provider_value }) => `${provider_key} = ${provider_value}`}
      cellsOf={({ provider_key, provider_value, assign_attr, idp }) => [
        <code key="claim">{provider_key}</code>,
        <code key="value" className="break-all">
          {provider_value}
        </code>,
        shown(assign_attr),
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

/** withGiven adds a value to options that lack it. */
const withGiven = (options: readonly (readonly [string, string])[], given: string) =>
  given === '' || options.some(([value]) => value === given) ? options : [...options, [given, given] as const]

function MappingForm({ mapping, onEnd }: { mapping: SsoMapping | undefined; onEnd(): void }) {
  const client = useClient()
  const roles = useRoles()
  const groups = useGroupNames()
  const providers = useQuery({ queryKey: IDPS, queryFn: ({ signal }) => client.sso.idps({ signal }) })
  const before = { assign: mapping?.assign_attr === 'Administrator' ? 'Admin' : (mapping?.assign_attr ?? ''), idp: mapping?.idp ?? '' }
  const [assign, setAssign] = useState(before.assign)
  const [idp, setIdp] = useState(before.idp)
  const assignable = [
    ['', 'Select…'] as const,
    ...(roles.data?.roles ?? [])
      .filter(({ role_type }) => role_type === 'USER')
      .map(({ role_id, display_name }) => [role_id, display_name] as const),
    ...[...groups].map(([id, name]) => [`${GROUP}${id}`, `group ${name}`] as const),
  ]
  const send = async (text: TextOf) => {
    const body = {
      provider_key: text('claim'),
      provider_value: text('value'),
      assign_attr: assign,
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
      isReady={assign !== ''}
      isDirty={mapping ? assign !== before.assign || idp !== before.idp : undefined}
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
      <FormField name="Gives" of="assign_attr">
        <Select value={assign} options={withGiven(assignable, before.assign)} onPick={setAssign} />
      </FormField>
      <FormField name="Provider" of="idp">
        <Select
          value={idp}
          options={withGiven([['', 'all'], ...(providers.data?.idps ?? []).map(({ name }) => [name, name] as const)], before.idp)}
          onPick={setIdp}
        />
      </FormField>
    </Form>
  )
}
