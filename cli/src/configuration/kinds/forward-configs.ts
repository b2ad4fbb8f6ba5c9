import { type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type ConfigFields, isFields, type Kind, listOf, mapItems, type Path, type Problem, pick, textOf, withMember } from '../kind.ts'

type Body = BodyInput<typeof contract.forwardConfigs.create>

export const forwardConfigKind: Kind = {
  name: 'forward_config',
  file: 'forward-configs.yaml',
  members: [
    'name',
    'description',
    'filter',
    'all_logs',
    'log_ids',
    'format',
    'compression',
    'max_payload_size_bytes',
    'max_payload_size_events',
    'max_buffer_time_ms',
    'destination',
  ],
  nameOf: ({ name }) => textOf(name),
  refersTo: ['dataset'],
  load: async ({ client, signal }) =>
    (await client.forwardConfigs.list({ signal }))['forward-configs'].map((config) => ({
      id: config.id,
      fields: pick(config, forwardConfigKind.members),
    })),
  withReferences: (fields, map) =>
    withMember(fields, 'log_ids', (ids) =>
      mapItems(ids, (one, at) => (typeof one === 'string' ? map('dataset', one, ['log_ids', at]) : one)),
    ),
  check: (given) => {
    const { fields, problems } = checkFields(contract.forwardConfigs.create.body, given)
    const { filter, ...rest } = withMember(fields, 'log_ids', (ids) => [...new Set(listOf(ids))])
    // The service stores a blank filter as none.
    const normal = textOf(filter).trim() === '' ? rest : { ...rest, filter }
    return { fields: pick(normal, forwardConfigKind.members), problems: [...problems, ...datasetProblems(given), ...secretProblems(given)] }
  },
  isSecret: (path) => isKey(path) || isHeader(path),
  needsEnvironment: isKey,
  create: async ({ client, signal }, fields, send) => (await send(() => client.forwardConfigs.create({ body: fields as Body, signal }))).id,
  update: async ({ client, signal }, { before, fields }, send) => {
    await send(() => client.forwardConfigs.update({ params: { forwardId: before.id }, body: fields as Body, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.forwardConfigs.remove({ params: { forwardId: id }, signal })),
}

function isKey([member, field]: Path): boolean {
  return member === 'destination' && field === 'secret_access_key'
}

const isHeader = ([member, field, header]: Path): boolean => member === 'destination' && field === 'headers' && header !== undefined

function datasetProblems({ all_logs, log_ids }: ConfigFields): Problem[] {
  const isListed = listOf(log_ids).length > 0
  if (all_logs === true && isListed) return [{ path: ['log_ids'], message: 'must be absent when all_logs is true' }]
  if (all_logs === false && !isListed) return [{ path: ['log_ids'], message: 'must name at least one dataset when all_logs is false' }]
  return []
}

function secretProblems({ destination }: ConfigFields): Problem[] {
  if (!isFields(destination)) return []
  const { headers, access_key_id, secret_access_key } = destination
  const isPair = (access_key_id === undefined) === (secret_access_key === undefined)
  const named = isFields(headers) ? Object.entries(headers) : []
  return [
    ...(isPair ? [] : [{ path: ['destination', 'secret_access_key'], message: 'and access_key_id belong together' }]),
    ...named.flatMap(([name, value]) =>
      textOf(value) === '' ? [{ path: ['destination', 'headers', name], message: 'must not be empty' }] : [],
    ),
  ]
}
