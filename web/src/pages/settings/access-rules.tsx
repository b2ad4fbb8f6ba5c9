import type { Policy } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useDatasets } from '../../parts/datasets/datasets.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { useRoles } from './role-picker.tsx'
import { USERS } from './users.tsx'

const POLICIES = ['policies']
const types = [
  ['LOG_FORBID', 'cannot see'],
  ['LOG_PERMIT', 'can see only'],
] as const

/** AccessRules restrict which datasets a role, user or key can see. */
export function AccessRules() {
  const client = useClient()
  const list = useQuery({ queryKey: POLICIES, queryFn: ({ signal }) => client.policies.list({ signal }) })
  const remove = useSave((policyId: string) => client.policies.remove({ params: { policyId } }), { stale: [POLICIES] })
  const principals = usePrincipals()
  const resources = useResources()
  const nameOf = (options: Options, key: string) => options.find(([one]) => one === key)?.[1] ?? key
  const sentence = ({ principal, policy_type, resource }: Policy) => ({
    principal: nameOf(principals, `${principal.principal_type} ${principal.principal_id}`),
    access: types.find(([type]) => type === policy_type)?.[1] ?? policy_type,
    resource: nameOf(resources, `${kindOf(resource.resource_type)} ${resource.resource_id}`),
  })
  return (
    <>
      <p className="max-w-3xl text-soft">
        Users and keys that may read see every dataset, unless a rule restricts it. “Cannot see” wins over “can see only”. Rules apply to
        reading, not to sending.
      </p>
      <Permitted to="policies_write">
        <NewRule principals={principals} resources={resources} />
      </Permitted>
      <Panel title="Access rules">
        <Loaded of={list}>
          {({ policies }) => (
            <Rows
              label="Access rules"
              columns={['Principal', 'Access', 'Resource', 'Description']}
              empty="No access rules yet: users and keys that may read see every dataset."
              howTo={<Permitted to="policies_write">Create the first one.</Permitted>}
            >
              {policies.map((policy) => {
                const text = sentence(policy)
                return (
                  <Row
                    key={policy.id}
                    cells={[
                      text.principal,
                      text.access,
                      text.resource,
                      <span key="why" className="text-soft">
                        {policy.description}
                        {(policy.when || policy.unless) && ' (under conditions)'}
                      </span>,
                    ]}
                  >
                    <Confirm
                      size="small"
                      action="Delete"
                      needs="policies_delete"
                      label={`Delete the rule for ${text.principal}`}
                      message={`Delete the rule that ${text.principal} ${text.access} ${text.resource}? This takes effect with the next request.`}
                      onYes={() => remove.mutateAsync(policy.id)}
                    />
                  </Row>
                )
              })}
            </Rows>
          )}
        </Loaded>
      </Panel>
    </>
  )
}

type Options = readonly (readonly [string, string])[]

/** kindOf maps the synonyms of a resource type to one. */
const kindOf = (type: string): string => (['LOG', 'DATASET'].includes(type.toUpperCase()) ? 'LOG' : 'LOG_SET')

function usePrincipals(): Options {
  const client = useClient()
  const roles = useRoles()
  const users = useQuery({ queryKey: USERS, queryFn: ({ signal }) => client.users.list({ signal }) })
  const keys = useQuery({ queryKey: ['api keys'], queryFn: ({ signal }) => client.apiKeys.list({ signal }) })
  return [
    ...(roles.data?.roles ?? []).map(({ role_id, display_name }) => [`ROLE ${role_id}`, `role ${display_name}`] as const),
    ...(users.data?.users ?? []).map(({ id, email }) => [`USER ${id}`, email] as const),
    ...(keys.data?.api_keys ?? []).map(({ id, name }) => [`APIKEY ${id}`, `key ${name}`] as const),
  ]
}

function useResources(): Options {
  const { data } = useDatasets()
  const datasets = data?.datasets ?? []
  const collections = [...new Set(datasets.map(({ collection }) => collection))].sort()
  return [
    ...collections.map((name) => [`LOG_SET ${name}`, `collection ${name}`] as const),
    ...datasets.map(({ id, collection, dataset }) => [`LOG ${id}`, `${collection} / ${dataset}`] as const),
  ]
}

function NewRule({ principals, resources }: { principals: Options; resources: Options }) {
  const client = useClient()
  const [principal, setPrincipal] = useState('')
  const [policy_type, setType] = useState<(typeof types)[number][0]>('LOG_FORBID')
  const [resource, setResource] = useState('')
  /** split separates a choice into kind and id; a name may contain spaces. */
  const split = (text: string): [string, string] => [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1)]
  return (
    <Panel title="New rule">
      <Form
        action="Create rule"
        stale={POLICIES}
        isReady={principal !== '' && resource !== ''}
        onSend={(text) => {
          const [principal_type, principal_id] = split(principal)
          const [resource_type, resource_id] = split(resource)
          const description = text('description')
          return client.policies.create({
            body: {
              policy_type,
              principal: { principal_type: principal_type as 'ROLE' | 'USER' | 'APIKEY', principal_id },
              resource: { resource_type, resource_id },
              actions: ['*'],
              ...(description === '' ? {} : { description }),
            },
          })
        }}
      >
        <FormField name="Principal" of="principal">
          <Select className="sm:min-w-56 sm:max-w-80" value={principal} options={[['', 'Select…'], ...principals]} onPick={setPrincipal} />
        </FormField>
        <FormField name="Access" of={['policy_type', 'actions']}>
          <Select value={policy_type} options={types} onPick={setType} />
        </FormField>
        <FormField name="Resource" of="resource">
          <Select className="sm:min-w-56 sm:max-w-80" value={resource} options={[['', 'Select…'], ...resources]} onPick={setResource} />
        </FormField>
        <FormField name="Description" of="description" className="min-w-48 flex-1">
          <Input name="description" maxLength={4000} autoComplete="off" />
        </FormField>
      </Form>
    </Panel>
  )
}
