import { type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type ConfigFields, type Kind, textOf } from '../kind.ts'

type Body = BodyInput<typeof contract.retentionRules.create>

/** The rule of a collection, or without one the default of the organization. The retention of a dataset is in the dataset. */
const bodyOf = ({ collection, retention }: ConfigFields): Body =>
  ({
    ...(collection === undefined
      ? { entity: 'ORGANISATION', category: 'DEFAULT_RETENTION' }
      : { entity: 'LOG_SET', category: 'DATASET_RETENTION', scope: { from: `log:${textOf(collection)}` } }),
    retention,
  }) as Body

export const retentionRuleKind: Kind = {
  name: 'retention_rule',
  file: 'retention-rules.yaml',
  members: ['collection', 'retention'],
  nameOf: ({ collection }) => (collection === undefined ? 'default of the organization' : `collection ${textOf(collection)}`),
  load: async ({ client, signal }) =>
    (await client.retentionRules.list({ signal })).retention_rules
      .filter(({ entity }) => entity !== 'LOG')
      .map(({ id, scope, retention }) => ({
        id,
        fields: { ...(scope.from === undefined ? {} : { collection: scope.from.replace(/^log:/, '') }), retention },
      })),
  check: (fields) => {
    const { problems } = checkFields(contract.retentionRules.create.body, bodyOf(fields))
    const isText = fields.collection === undefined || (typeof fields.collection === 'string' && fields.collection !== '')
    const own = isText ? [] : [{ path: ['collection'], message: 'must be the name of a collection' }]
    return { fields, problems: [...own, ...problems] }
  },
  create: async ({ client, signal }, fields, send) => (await send(() => client.retentionRules.create({ body: bodyOf(fields), signal }))).id,
  update: async ({ client, signal }, { before, fields }, send) => {
    await send(() => client.retentionRules.update({ params: { ruleId: before.id }, body: bodyOf(fields), signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.retentionRules.remove({ params: { ruleId: id }, signal })),
}
