import type { Policy } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { fullName, useDatasetsById } from '../../parts/datasets/datasets.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useCallers } from '../../parts/shell/callers.ts'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { NewAccessRule, POLICIES, types } from './new-access-rule.tsx'
import { useRoles } from './role-picker.tsx'

/** A rule about events has another type for roles. */
const typeOf = (type: Policy['policy_type']): Policy['policy_type'] => (type === 'ROLE_BASED' ? 'CUSTOM' : type)

/** AccessRules restrict which datasets a role, user or key can see. */
export function AccessRules() {
  const client = useClient()
  const list = useQuery({ queryKey: POLICIES, queryFn: ({ signal }) => client.policies.list({ signal }) })
  const remove = useSave((policyId: string) => client.policies.remove({ params: { policyId } }), { stale: [POLICIES] })
  const policies = list.data?.policies ?? []
  const { nameOf: datasetName } = useDatasetsById(policies.filter(isOfDataset).map(({ resource }) => resource.resource_id))
  const principalName = usePrincipalNames(policies.map(({ principal }) => principal))
  const sentence = ({ principal, policy_type, resource }: Policy) => ({
    principal: principalName(principal),
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
        <NewAccessRule />
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

/** Names roles, users and keys by type and id, of which only these are read. */
function usePrincipalNames(principals: readonly Policy['principal'][]): (principal: Policy['principal']) => string {
  const roles = useRoles()
  const callerOf = useCallers(principals.map(({ principal_type, principal_id }) => (principal_type === 'ROLE' ? '' : principal_id)))
  return ({ principal_type, principal_id }) => {
    const role = roles.data?.roles.find(({ role_id }) => role_id === principal_id)
    const name = principal_type === 'ROLE' ? role && `role ${role.display_name}` : callerOf(principal_id)
    return name ?? `${principal_type} ${principal_id}`
  }
}
