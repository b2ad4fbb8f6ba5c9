import { type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { isFields, type Kind, type MapReference, type Path, pick, textOf, withMember } from '../kind.ts'
import { writeTags } from './record-tags.ts'

type Body = BodyInput<typeof contract.savedSearches.create>

export const savedSearchKind: Kind = {
  name: 'saved_search',
  file: 'saved-searches.yaml',
  members: ['name', 'description', 'search_details', 'log_ids', 'tags'],
  nameOf: ({ name }) => textOf(name),
  refersTo: ['dataset'],
  load: async ({ client, signal }) =>
    (await client.savedSearches.list({ signal })).saved_searches.map((search) => ({
      id: search.id,
      fields: withMember(pick(search, savedSearchKind.members), 'search_details', withSourceList),
    })),
  withReferences: (fields, map) =>
    withMember(
      withMember(fields, 'search_details', (details) => detailsWithReferences(details, map, ['search_details'])),
      'log_ids',
      (ids) => referencesIn(ids, map, ['log_ids']),
    ),
  check: (given) => {
    const { fields, problems } = checkFields(contract.savedSearches.create.body, given)
    const needed = given.search_details === undefined ? [{ path: ['search_details'], message: 'is required' }] : []
    const named = given.name === undefined ? [{ path: ['name'], message: 'is required' }] : []
    return { fields: withMember(fields, 'search_details', withSourceList), problems: [...named, ...needed, ...problems] }
  },
  create: async ({ client, signal }, fields, send) => (await send(() => client.savedSearches.create({ body: fields as Body, signal }))).id,
  update: async (service, { before, fields }, send) => {
    const { client, signal } = service
    const { tags, description = '', ...rest } = fields as Body
    // An absent member keeps its value, so that a removed list is sent as an empty one.
    const lists = before.fields.log_ids === undefined ? {} : { log_ids: [] }
    const body = { description, ...lists, ...rest }
    await send(() => client.savedSearches.update({ params: { savedSearchId: before.id }, body, signal }))
    await writeTags(service, { id: before.id, type: 'saved_search' }, { before: before.fields.tags, after: tags }, send)
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.savedSearches.remove({ params: { savedSearchId: id }, signal })),
}

/** The ids of datasets are stored as one text; a file has a list. */
export const withSourceList = (details: unknown): unknown =>
  isFields(details)
    ? withMember(details, 'from', (from) => (typeof from === 'string' ? from.split(':').filter((id) => id !== '') : from))
    : details

/** The datasets of a query by their names. */
export const detailsWithReferences = (details: unknown, map: MapReference, path: Path): unknown =>
  isFields(details) ? withMember(details, 'from', (from) => referencesIn(from, map, [...path, 'from'])) : details

const referencesIn = (value: unknown, map: MapReference, path: Path): unknown => {
  if (typeof value === 'string') return map('dataset', value, path)
  return Array.isArray(value) ? value.map((one, at) => (typeof one === 'string' ? map('dataset', one, [...path, at]) : one)) : value
}
