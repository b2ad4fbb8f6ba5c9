import { type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type Kind, type Path, pick, textOf, withMember } from '../kind.ts'

type Body = BodyInput<typeof contract.sources.create>

export const sourceKind: Kind = {
  name: 'source',
  file: 'sources.yaml',
  members: ['name', 'description', 'log_id', 'paused', 'origin'],
  nameOf: ({ name }) => textOf(name),
  refersTo: ['dataset'],
  load: async ({ client, signal }) =>
    (await client.sources.list({ signal })).sources.map((source) => ({ id: source.id, fields: pick(source, sourceKind.members) })),
  withReferences: (fields, map) => withMember(fields, 'log_id', (id) => (typeof id === 'string' ? map('dataset', id, ['log_id']) : id)),
  isSecret,
  needsEnvironment: isSecret,
  check: (given) => checkFields(contract.sources.create.body, given),
  create: async ({ client, signal }, fields, send) => (await send(() => client.sources.create({ body: fields as Body, signal }))).id,
  update: async ({ client, signal }, { before, fields }, send) => {
    await send(() => client.sources.update({ params: { sourceId: before.id }, body: fields as Body, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.sources.remove({ params: { sourceId: id }, signal })),
}

function isSecret([member, field]: Path): boolean {
  return member === 'origin' && (field === 'password' || field === 'secret_access_key')
}
