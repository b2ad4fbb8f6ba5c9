import type { Policy } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { useDatasets } from '../../parts/datasets.ts'
import { Form, FormField } from '../../parts/form.tsx'
import { Panel } from '../../parts/page.tsx'
import { Answer, Row, Rows, useAction } from '../../parts/records.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { useRoles } from './role-picker.tsx'
import { USERS } from './users.tsx'

const POLICIES = ['policies']
const types = [
  ['LOG_FORBID', 'may not see'],
  ['LOG_PERMIT', 'may see nothing but'],
] as const

/** AccessRules restrict which datasets a role, user or key can see. */
export function AccessRules() {
  const client = useClient()
  const list = useQuery({ queryKey: POLICIES, queryFn: ({ signal }) => client.policies.list({ signal }) })
  const remove = useAction(POLICIES, (policyId: string) => client.policies.remove({ params: { policyId } }))
  const who = useWho()
  const what = useWhat()
  const nameOf = (options: Options, key: string) => options.find(([one]) => one === key)?.[1] ?? key
  const sentence = ({ principal, policy_type, resource }: Policy) => ({
    who: nameOf(who, `${principal.principal_type} ${principal.principal_id}`),
    verb: types.find(([type]) => type === policy_type)?.[1] ?? policy_type,
    what: nameOf(what, `${kindOf(resource.resource_type)} ${resource.resource_id}`),
  })
  return (
    <>
      <p className="max-w-3xl text-soft">
        Whoever has a role that reads sees every dataset, unless a rule says otherwise. Forbidding wins over permitting. Rules decide what
        is seen, not what is sent.
      </p>
      <NewRule who={who} what={what} />
      <Panel title="Access rules">
        <Answer of={list}>
          {({ policies }) => (
            <Rows label="Access rules" heads={['Who', '', 'What', 'Why']} empty="No rule: everybody who may read sees every dataset.">
              {policies.map((policy) => {
                const said = sentence(policy)
                return (
                  <Row
                    key={policy.id}
                    cells={[
                      said.who,
                      said.verb,
                      said.what,
                      <span key="why" className="text-soft">
                        {policy.description}
                        {(policy.when || policy.unless) && ' (under conditions)'}
                      </span>,
                    ]}
                  >
                    <Confirm
                      size="small"
                      action="Delete"
                      label={`Delete the rule for ${said.who}`}
                      message={`Delete the rule that ${said.who} ${said.verb} ${said.what}? It ends with the next request.`}
                      onYes={() => remove.mutateAsync(policy.id)}
                    />
                  </Row>
                )
              })}
            </Rows>
          )}
        </Answer>
      </Panel>
    </>
  )
}

type Options = readonly (readonly [string, string])[]

/** kindOf maps the synonyms of a resource type to one. */
const kindOf = (type: string): string => (['LOG', 'DATASET'].includes(type.toUpperCase()) ? 'LOG' : 'LOG_SET')

function useWho(): Options {
  const client = useClient()
  const roles = useRoles()
  const users = useQuery({ queryKey: USERS, queryFn: ({ signal }) => client.users.list({ signal }) })
  const keys = useQuery({ queryKey: ['api keys'], queryFn: ({ signal }) => client.apiKeys.list({ signal }) })
  return [
    ...(roles.data?.roles ?? []).map(({ role_id, display_name }) => [`ROLE ${role_id}`, `the role ${display_name}`] as const),
    ...(users.data?.users ?? []).map(({ id, email }) => [`USER ${id}`, email] as const),
    ...(keys.data?.api_keys ?? []).map(({ id, name }) => [`APIKEY ${id}`, `the key ${name}`] as const),
  ]
}

function useWhat(): Options {
  const { data } = useDatasets()
  const datasets = data?.datasets ?? []
  const collections = [...new Set(datasets.map(({ collection }) => collection))].sort()
  return [
    ...collections.map((name) => [`LOG_SET ${name}`, `the collection ${name}`] as const),
    ...datasets.map(({ id, collection, dataset }) => [`LOG ${id}`, `${collection} / ${dataset}`] as const),
  ]
}

function NewRule({ who, what }: { who: Options; what: Options }) {
  const client = useClient()
  const [principal, setPrincipal] = useState('')
  const [policy_type, setType] = useState<(typeof types)[number][0]>('LOG_FORBID')
  const [resource, setResource] = useState('')
  /** halves splits a choice into kind and id; a name may contain spaces. */
  const halves = (text: string): [string, string] => [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1)]
  return (
    <Panel title="New rule">
      <Form
        action="Create rule"
        reads={POLICIES}
        isReady={principal !== '' && resource !== ''}
        onSend={(text) => {
          const [principal_type, principal_id] = halves(principal)
          const [resource_type, resource_id] = halves(resource)
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
        <FormField name="Who" of="principal">
          <Select className="sm:min-w-56 sm:max-w-80" value={principal} options={[['', 'choose…'], ...who]} onPick={setPrincipal} />
        </FormField>
        <FormField name="Rule" of={['policy_type', 'actions']}>
          <Select value={policy_type} options={types} onPick={setType} />
        </FormField>
        <FormField name="What" of="resource">
          <Select className="sm:min-w-56 sm:max-w-80" value={resource} options={[['', 'choose…'], ...what]} onPick={setResource} />
        </FormField>
        <FormField name="Why" of="description" className="min-w-48 flex-1">
          <Input name="description" maxLength={4000} autoComplete="off" />
        </FormField>
      </Form>
    </Panel>
  )
}
