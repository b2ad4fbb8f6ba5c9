import { type BodyInput, contract, roleName } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type ConfigFields, isFields, type Kind, type MapReference, mapItems, type Path, pick, textOf, withMember } from '../kind.ts'

type Body = BodyInput<typeof contract.policies.create>

export const policyKind: Kind = {
  name: 'policy',
  file: 'policies.yaml',
  members: ['description', 'policy_type', 'resource', 'principal', 'actions', 'restricted', 'when', 'unless'],
  nameOf: ({ policy_type, resource, principal, description }) => {
    const [what, who] = [isFields(resource) ? resource : {}, isFields(principal) ? principal : {}]
    const type = textOf(who.principal_type).toUpperCase()
    const id = type === 'ROLE' ? roleName(textOf(who.principal_id)) : textOf(who.principal_id)
    const pair = `${textOf(policy_type)} ${resourceType(textOf(what.resource_type))} ${textOf(what.resource_id)} for ${type} ${id}`
    return textOf(description) === '' ? pair : `${pair}: ${textOf(description)}`
  },
  refersTo: ['dataset', 'role', 'user', 'api_key'],
  load: async ({ client, signal }) =>
    (await client.policies.list({ query: {}, signal })).policies.map((policy) => ({
      id: policy.id,
      fields: pick(policy, policyKind.members),
    })),
  withReferences: (fields, map) => {
    const direct = withMember(
      withMember(fields, 'resource', (resource) => resourceWithReference(resource, map, ['resource'])),
      'principal',
      (principal) => principalWithReference(principal, map, ['principal']),
    )
    return withMember(
      withMember(direct, 'when', (condition) => conditionWithReferences(condition, map, 'when')),
      'unless',
      (condition) => conditionWithReferences(condition, map, 'unless'),
    )
  },
  check: (given) => {
    const { fields, problems } = checkFields(contract.policies.create.body, given)
    const typed = (resource: unknown) =>
      isFields(resource) ? withMember(resource, 'resource_type', (type) => resourceType(textOf(type))) : resource
    const conditioned = (condition: unknown) =>
      isFields(condition) ? withMember(condition, 'resources', (resources) => mapItems(resources, typed)) : condition
    const normal = withMember(withMember(withMember(fields, 'resource', typed), 'when', conditioned), 'unless', conditioned)
    return { fields: normal, problems }
  },
  create: async ({ client, signal }, fields, send) =>
    (await send(() => client.policies.create({ body: fields as unknown as Body, signal }))).id,
  update: async ({ client, signal }, { before, fields }, send) => {
    await send(() => client.policies.update({ params: { policyId: before.id }, body: fields as unknown as Body, signal }))
  },
  remove: async ({ client, signal }, { id }, send) => {
    await send(() => client.policies.remove({ params: { policyId: id }, signal }))
  },
}

const resourceTypes: ReadonlyMap<string, string> = new Map([
  ['DATASET', 'LOG'],
  ['LOGSET', 'LOG_SET'],
  ['COLLECTION', 'LOG_SET'],
])

/** One word for the types that the contract accepts under several names. */
const resourceType = (given: string): string => {
  const type = given.trim().toUpperCase()
  return resourceTypes.get(type) ?? type
}

const resourceWithReference = (resource: unknown, map: MapReference, path: Path): unknown =>
  isFields(resource) && resourceType(textOf(resource.resource_type)) === 'LOG'
    ? withMember(resource, 'resource_id', (id) => (typeof id === 'string' ? map('dataset', id, [...path, 'resource_id']) : id))
    : resource

function principalWithReference(principal: unknown, map: MapReference, path: Path): unknown {
  if (!isFields(principal) || typeof principal.principal_id !== 'string') return principal
  const [id, at] = [principal.principal_id, [...path, 'principal_id']]
  switch (textOf(principal.principal_type).toUpperCase()) {
    case 'ROLE':
      return { ...principal, principal_id: map('role', roleName(id), at) }
    case 'USER':
      return { ...principal, principal_id: map('user', id, at) }
    case 'APIKEY':
      return { ...principal, principal_id: map('api_key', id, at) }
    default:
      return principal
  }
}

function conditionWithReferences(condition: unknown, map: MapReference, member: string): unknown {
  if (!isFields(condition)) return condition
  const each =
    (change: (item: unknown, map: MapReference, path: Path) => unknown, list: string) =>
    (items: unknown): unknown =>
      mapItems(items, (item, at) => change(item, map, [member, list, at]))
  const fields: ConfigFields = withMember(condition, 'resources', each(resourceWithReference, 'resources'))
  return withMember(fields, 'principals', each(principalWithReference, 'principals'))
}
