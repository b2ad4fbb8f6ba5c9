import { type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type Kind, pick, textOf } from '../kind.ts'

type Body = BodyInput<typeof contract.datasets.create>

/** `collection.dataset`; a collection whose name has a dot or a quote is quoted, so that every name has one meaning. */
export const datasetName = (collection: string, dataset: string): string =>
  `${/[."]/.test(collection) ? JSON.stringify(collection) : collection}.${dataset}`

export const datasetKind: Kind = {
  name: 'dataset',
  file: 'datasets.yaml',
  members: ['collection', 'dataset', 'tags', 'retention'],
  nameOf: ({ collection, dataset }) => datasetName(textOf(collection).trim(), textOf(dataset).trim()),
  referredAs: { kind: 'dataset', prefix: '' },
  load: async ({ client, signal }) =>
    (await client.datasets.list({ signal })).datasets.map((dataset) => ({
      id: dataset.id,
      fields: pick(dataset, datasetKind.members),
      isFixed: dataset.is_system_generated,
    })),
  check: (fields) => checkFields(contract.datasets.create.body, fields),
  removedWith: 'its events',
  create: async ({ client, signal }, fields, send) => (await send(() => client.datasets.create({ body: fields as Body, signal }))).id,
  update: async ({ client, signal }, { before, fields }, send) => {
    const { collection, dataset, tags = {}, retention = null } = fields as Body
    await send(() => client.datasets.update({ params: { datasetId: before.id }, body: { collection, dataset, tags, retention }, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.datasets.remove({ params: { datasetId: id }, signal })),
}
