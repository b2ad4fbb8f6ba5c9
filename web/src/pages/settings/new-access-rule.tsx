import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { count } from '../../parts/chart/numbers.ts'
import { collectionsOf, fullName, useDatasetSearch, useDatasetsById } from '../../parts/datasets/datasets.ts'
import { useKeySearch, useUserSearch } from '../../parts/records/caller-lists.ts'
import { Form, FormField } from '../../parts/records/form.tsx'
import { hasWords } from '../../parts/records/has-words.ts'
import { SearchSelect } from '../../parts/records/search-select.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { useRoles } from './role-picker.tsx'

export const POLICIES = ['policies']
export const types = [
  ['LOG_FORBID', 'cannot see'],
  ['LOG_PERMIT', 'can see only'],
  ['CUSTOM', 'can see only some events of'],
] as const

/** split separates a choice into type and id; a name may contain spaces. */
const split = (text: string): [string, string] => [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1)]

/** NewAccessRule creates a rule. What a rule about events shows can be counted first. */
export function NewAccessRule() {
  const client = useClient()
  const [principal, setPrincipal] = useState('')
  const [type, setType] = useState<(typeof types)[number][0]>('LOG_FORBID')
  const [resource, setResource] = useState('')
  const [where, setWhere] = useState('')
  const isAboutEvents = type === 'CUSTOM'
  const isReady = principal !== '' && resource !== '' && (!isAboutEvents || where.trim() !== '')
  const body = () => {
    const [principal_type, principal_id] = split(principal)
    const [resource_type, resource_id] = split(resource)
    return {
      policy_type: isAboutEvents && principal_type === 'ROLE' ? ('ROLE_BASED' as const) : type,
      principal: { principal_type: principal_type as 'ROLE' | 'USER' | 'APIKEY', principal_id },
      resource: { resource_type, resource_id },
      actions: ['*'],
      ...(isAboutEvents ? { when: { where } } : {}),
    }
  }
  const preview = useMutation({ mutationFn: () => client.policies.preview({ body: body() }) })
  const changing =
    <Value,>(change: (value: Value) => void) =>
    (value: Value) => {
      preview.reset()
      change(value)
    }
  return (
    <Panel title="New rule">
      <Form
        action="Create rule"
        stale={POLICIES}
        isReady={isReady}
        onSend={(text) => {
          const description = text('description')
          return client.policies.create({ body: { ...body(), ...(description === '' ? {} : { description }) } })
        }}
        onSaved={() => changing(setWhere)('')}
      >
        <FormField name="Principal" of="principal">
          <PrincipalSelect value={principal} onPick={changing(setPrincipal)} />
        </FormField>
        <FormField name="Access" of={['policy_type', 'actions']}>
          <Select value={type} options={types} onPick={changing(setType)} />
        </FormField>
        <FormField name="Resource" of="resource">
          <ResourceSelect value={resource} onPick={changing(setResource)} />
        </FormField>
        {isAboutEvents && (
          <FormField name="Events where" of={['when', 'when.where']} className="min-w-56 flex-1">
            <Input
              className="font-mono text-sm"
              value={where}
              placeholder="team = 'shop'"
              maxLength={4000}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => changing(setWhere)(event.target.value)}
            />
          </FormField>
        )}
        <FormField name="Description" of="description" className="min-w-48 flex-1">
          <Input name="description" maxLength={4000} autoComplete="off" />
        </FormField>
      </Form>
      {isAboutEvents && (
        <div className="flex flex-wrap items-center gap-3 px-3 pb-3">
          <Button disabled={!isReady || preview.isPending} onClick={() => preview.mutate()}>
            {preview.isPending ? 'Counting…' : 'Preview'}
          </Button>
          {preview.data && (
            <span role="status">
              {count(preview.data.shown)} of {count(preview.data.events)} events of the last day would be visible.
            </span>
          )}
          {preview.error && (
            <div className="w-full *:m-0">
              <FailureNote thrown={preview.error} />
            </div>
          )}
        </div>
      )}
    </Panel>
  )
}

/** Selects a role, a user or a key. */
function PrincipalSelect({ value, onPick }: { value: string; onPick(value: string): void }) {
  const [find, setFind] = useState('')
  const [label, setLabel] = useState('Select…')
  const roles = useRoles()
  const users = useUserSearch(find)
  const keys = useKeySearch(find)
  const rolesFound = (roles.data?.roles ?? []).filter(({ display_name }) => hasWords(display_name, find))
  const options = [
    ...rolesFound.map(({ role_id, display_name }) => [`ROLE ${role_id}`, `role ${display_name}`] as const),
    ...users.records.map(({ id, email }) => [`USER ${id}`, email] as const),
    ...keys.records.map(({ id, name }) => [`APIKEY ${id}`, `key ${name}`] as const),
  ]
  const isWhole = (list: typeof users | typeof keys) => !list.data || list.isWhole
  if (isWhole(users) && isWhole(keys))
    return <Select className="sm:min-w-56 sm:max-w-80" value={value} options={[['', 'Select…'], ...options]} onPick={onPick} />
  return (
    <SearchSelect
      className="sm:min-w-56 sm:max-w-80"
      name="Principal"
      noun="principal"
      selected={label}
      options={options}
      of={users.hasNextPage ? users : keys}
      find={find}
      onFind={setFind}
      onPick={(picked) => {
        setLabel(options.find(([one]) => one === picked)?.[1] ?? picked)
        onPick(picked)
      }}
    />
  )
}

/** Selects a collection or a dataset. */
function ResourceSelect({ value, onPick }: { value: string; onPick(value: string): void }) {
  const [find, setFind] = useState('')
  const found = useDatasetSearch(find)
  const [kind, id] = split(value)
  const { nameOf } = useDatasetsById(kind === 'LOG' ? [id] : [])
  const options = [
    ...collectionsOf(found.records).map((name) => [`LOG_SET ${name}`, `collection ${name}`] as const),
    ...found.records.map((dataset) => [`LOG ${dataset.id}`, fullName(dataset)] as const),
  ]
  if (!found.data || found.isWhole)
    return <Select className="sm:min-w-56 sm:max-w-80" value={value} options={[['', 'Select…'], ...options]} onPick={onPick} />
  const selected = value === '' ? 'Select…' : kind === 'LOG' ? nameOf(id, fullName) : `collection ${id}`
  return (
    <SearchSelect
      className="sm:min-w-56 sm:max-w-80"
      name="Resource"
      noun="resource"
      selected={selected}
      options={options}
      of={found}
      find={find}
      onFind={setFind}
      onPick={onPick}
    />
  )
}
