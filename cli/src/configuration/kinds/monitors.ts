import { type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import {
  type ConfigFields,
  isFields,
  type Kind,
  listOf,
  type MapReference,
  mapItems,
  type Path,
  type Problem,
  pick,
  textOf,
  withMember,
} from '../kind.ts'
import { writeTags } from './record-tags.ts'

type Body = BodyInput<typeof contract.monitors.update>

const definition = [
  'name',
  'description',
  'type',
  'comparison_operator',
  'threshold',
  'warning_threshold',
  'window',
  'compare_to',
  'change_type',
  'evaluation_window',
  'anomaly_algorithm',
  'queries',
  'formulas',
  'actions',
  'no_data_status',
  'notify_once',
  'group_retention',
  'ai_report_enabled',
  'ai_report_instructions',
  'aux',
] as const

/** Members of one type of monitor; the service drops them from the others. */
const ofOneType: ReadonlyMap<string, string> = new Map([
  ['compare_to', 'CHANGE_DETECTION'],
  ['change_type', 'CHANGE_DETECTION'],
  ['evaluation_window', 'ANOMALY_DETECTION'],
  ['anomaly_algorithm', 'ANOMALY_DETECTION'],
])
const typeDefaults: ReadonlyMap<string, ConfigFields> = new Map([
  ['CHANGE_DETECTION', { change_type: 'DIFFERENCE' }],
  ['ANOMALY_DETECTION', { anomaly_algorithm: 'MEDIAN_MAD' }],
])

export const monitorKind: Kind = {
  name: 'monitor',
  file: 'monitors.yaml',
  members: [...definition, 'tags'],
  nameOf: ({ name }) => textOf(name),
  refersTo: ['dataset', 'integration'],
  load: async ({ client, signal }) =>
    (await client.monitors.list({ signal })).monitors.map((monitor) => ({
      id: monitor.id,
      fields: { ...pick(monitor, monitorKind.members), queries: monitor.queries.map(withoutId), actions: monitor.actions.map(withoutType) },
    })),
  withReferences: (fields, map) =>
    withMember(queriesWithReferences(fields, map), 'actions', (actions) =>
      mapItems(actions, (action, at) =>
        isFields(action)
          ? withMember(action, 'integration_id', (id) =>
              typeof id === 'string' && id !== '' ? map('integration', id, ['actions', at, 'integration_id']) : id,
            )
          : action,
      ),
    ),
  check: (given) => {
    const { tags, ...rest } = given
    const tagged = checkFields(contract.monitors.create.body, tags === undefined ? {} : { tags })
    const { fields, problems } = checkFields(contract.monitors.update.body, rest)
    const type = textOf(fields.type ?? 'PATTERN')
    const misplaced = [...ofOneType].flatMap(([member, needed]): Problem[] =>
      rest[member] === undefined || type === needed ? [] : [{ path: [member], message: `is only for monitors of the type ${needed}` }],
    )
    const complete = { type, ...typeDefaults.get(type), ...fields, actions: listOf(fields.actions).map(withoutType) }
    return { fields: { ...complete, ...pick(tagged.fields, ['tags']) }, problems: [...problems, ...tagged.problems, ...misplaced] }
  },
  removedWith: 'its history',
  create: async ({ client, signal }, fields, send) => (await send(() => client.monitors.create({ body: fields as Body, signal }))).id,
  update: async (service, { before, fields }, send) => {
    const { client, signal } = service
    const { tags, ...body } = fields
    await send(() => client.monitors.update({ params: { monitorId: before.id }, body: body as Body, signal }))
    await writeTags(service, { id: before.id, type: 'monitor' }, { before: before.fields.tags, after: tags }, send)
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.monitors.remove({ params: { monitorId: id }, signal })),
}

/** The datasets in the queries of a monitor or a metric. */
export const queriesWithReferences = (fields: ConfigFields, map: MapReference, at: Path = []): ConfigFields =>
  withMember(fields, 'queries', (queries) =>
    mapItems(queries, (query, index) =>
      isFields(query)
        ? withMember(query, 'from', (from) =>
            Array.isArray(from)
              ? from.map((one, place) => (typeof one === 'string' ? map('dataset', one, [...at, 'queries', index, 'from', place]) : one))
              : from,
          )
        : query,
    ),
  )

/** The service gives each query an id, and an action its type, which follows from its other members. */
export const withoutId = ({ id: _, ...query }: ConfigFields): ConfigFields => query
const withoutType = (action: unknown): unknown => {
  if (!isFields(action)) return action
  const { type, ...rest } = action
  const derived = textOf(rest.email) === '' ? 'INTEGRATION' : rest.integration_id === undefined ? 'EMAIL' : undefined
  return type === undefined || type === derived ? rest : action
}
