import type { Policy } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { fullName, useDatasetsById } from '../../parts/datasets/datasets.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { type AccessOptions, NewAccessRule, POLICIES, types } from './new-access-rule.tsx'
import { useRoles } from './role-picker.tsx'
import { USERS } from './users.tsx'

/** A rule about events has another type for roles. */
const typeOf = (type: Policy['policy_type']): Policy['policy_type'] => (type === 'ROLE_BASED' ? 'CUSTOM' : type)

/** AccessRules restrict which datasets a role, user or key can see. */
export function AccessRules() {
  const client = useClient()
  const list = useQuery({ queryKey: POLICIES, queryFn: ({ signal }) => client.policies.list({ signal }) })
  const remove = useSave((policyId: string) => client.policies.remove({ params: { policyId } }), { stale: [POLICIES] })
  const principals = usePrincipals()
  const policies = list.data?.policies ?? []
  const { nameOf: datasetName } = useDatasetsById(policies.filter(isOfDataset).map(({ resource }) => resource.resource_id))
  const nameOf = (options: AccessOptions, key: string) => options.find(([one]) => one === key)?.[1] ?? key
  const sentence = ({ principal, policy_type, resource }: Policy) => ({
    principal: nameOf(principals, `${principal.principal_type} ${principal.principal_id}`),
    access: types.find(([type]) => type === typeOf(policy_type))?.[1] ?? policy_type,
    resource: isOfDataset({ resource }) ? datasetName(resource.resource_id, fullName) : `collection ${resource.resource_id}`,
  })
  return (
    <>
      <p className="max-w-3xl text-soft">
        Users and keys that may read see every dataset, unless a rule restricts it. “Cannot see” wins over “can see only”. Of a dataset with
        rules about some events, they see the events that any of these rules shows. Rules apply to reading, not to sending.
      </p>
      <Permitted to="policies_write">
        <NewAccessRule principals={principals} />
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
                      <span key="what">
                        {text.resource}
                        {policy.when?.where && <code className="block break-words text-sm">{policy.when.where}</code>}
                      </span>,
                      (policy.description || hasMoreConditions(policy)) && (
                        <span key="why" className="text-soft">
                          {policy.description}
                          {hasMoreConditions(policy) && ' (under conditions)'}
                        </span>
                      ),
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

/** hasMoreConditions tells whether a rule has conditions besides the filter that is shown. */
const hasMoreConditions = ({ when, unless }: Policy): boolean =>
  unless !== undefined || (when !== undefined && Object.keys(when).some((member) => member !== 'where'))

/** A type of resource has synonyms; those that are not of one dataset are of a collection. */
const isOfDataset = ({ resource }: Pick<Policy, 'resource'>): boolean => ['LOG', 'DATASET'].includes(resource.resource_type.toUpperCase())

function usePrincipals(): AccessOptions {
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
