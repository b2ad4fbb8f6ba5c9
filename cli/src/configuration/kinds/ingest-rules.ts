import { type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type ConfigFields, isFields, type Kind, listOf, mapItems, type Problem, pick, textOf, withMember } from '../kind.ts'

type Body = BodyInput<typeof contract.ingestRules.create>

export const ingestRuleKind: Kind = {
  name: 'ingest_rule',
  file: 'ingest-rules.yaml',
  members: ['name', 'description', 'enabled', 'from', 'from_expr', 'where', 'action'],
  nameOf: ({ name }) => textOf(name),
  refersTo: ['dataset'],
  // The list has the order in which the rules apply.
  load: async ({ client, signal }) =>
    (await client.ingestRules.list({ signal })).ingest_rules.map((rule) => ({
      id: rule.id,
      fields: pick(rule, ingestRuleKind.members),
      parts: rule.version,
    })),
  withReferences: (fields, map) =>
    withMember(fields, 'from', (from) => mapItems(from, (one, at) => (typeof one === 'string' ? map('dataset', one, ['from', at]) : one))),
  check: (given) => {
    const { fields, problems } = checkFields(contract.ingestRules.create.body, given)
    return {
      fields: withMember(fields, 'from', (from) => [...new Set(listOf(from))]),
      problems: [...problems, ...sourceProblems(given), ...actionProblems(given)],
    }
  },
  create: async ({ client, signal }, fields, send) => (await send(() => client.ingestRules.create({ body: fields as Body, signal }))).id,
  update: async ({ client, signal }, { before, fields }, send) => {
    // An absent member keeps its value. The version refuses the change of a rule that somebody else has changed since it was shown.
    const body = { description: '', where: '', ...(fields as Body), version: before.parts as number }
    await send(() => client.ingestRules.update({ params: { ruleId: before.id }, body, signal }))
  },
  reorder: async ({ client, signal }, ids, send) => {
    await send(() => client.ingestRules.reorder({ body: { rule_ids: [...ids] }, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.ingestRules.remove({ params: { ruleId: id }, signal })),
}

/** The service keeps one of the two, so that a file with both would differ for ever. */
function sourceProblems({ from, from_expr }: ConfigFields): Problem[] {
  const isListed = listOf(from).length > 0
  if (isListed) return from_expr === undefined ? [] : [{ path: ['from_expr'], message: 'and from exclude each other' }]
  return textOf(from_expr).trim() === '' ? [{ path: ['from'], message: 'or from_expr must name datasets' }] : []
}

function actionProblems({ action }: ConfigFields): Problem[] {
  if (!isFields(action) || action.type !== 'REDACT' || listOf(action.kinds).length + listOf(action.expressions).length > 0) return []
  return [{ path: ['action'], message: 'needs kinds or expressions' }]
}
