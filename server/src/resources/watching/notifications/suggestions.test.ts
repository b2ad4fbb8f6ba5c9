import { expect, test } from 'vitest'
import { silent } from '../../../meta/database.fixture.ts'
import type { LanguageModel } from '../../../outgoing/model.ts'
import { proposals, suggestFor } from './suggestions.ts'

const context = {
  threshold: 10,
  comparison_operator: 'ABOVE' as const,
  queries: [{ name: 'errors', select: ['count(*)'], where: 'level = error', groups: ['host'] }],
}
const nobody: LanguageModel = { configured: false, complete: async () => Promise.reject(new Error('no model')) }
const saying = (answer: string): LanguageModel => ({ configured: true, complete: async () => answer })
const signal = new AbortController().signal
const ask = { number_of_suggestions: 1, monitor_context: context }

test('without a model they describe the queries, the shortest first', async () => {
  expect(await suggestFor({ model: nobody, log: silent }, ask, signal)).toEqual([
    {
      name: 'Events where level = error above 10',
      description: 'Watches events where level = error, each host by itself and fires when the value is above 10.',
    },
  ])
})

test('ten differ from one another, also when nothing is known of the monitor', () => {
  for (const one of [context, {}, { queries: [{ name: 'a', select: ['avg(latency)'], where: '' }] }]) {
    expect(new Set(proposals(one).map(({ name }) => name)).size).toBe(10)
  }
})

test('an exact threshold is named', () => {
  const names = proposals({ ...context, comparison_operator: 'EQUAL' }).map(({ name }) => name)
  expect(names).toContain('Equal to 10 events where level = error by host')
  expect(new Set(names).size).toBe(10)
})

test('only the wanted fields come', async () => {
  const only = { ...ask, number_of_suggestions: 3, suggestion_fields: ['NAME' as const] }
  const found = await suggestFor({ model: nobody, log: silent }, only, signal)
  expect(found.map((one) => Object.keys(one))).toEqual([['name'], ['name'], ['name']])
})

test('the suggestions of a model come first, and missing ones are added', async () => {
  const two = { ...ask, number_of_suggestions: 2 }
  const found = await suggestFor({ model: saying('Till trouble | The till | fails\nnonsense'), log: silent }, two, signal)
  expect(found[0]).toEqual({ name: 'Till trouble', description: 'The till|fails' })
  expect(found[1]?.name).toBe('Events where level = error above 10')
  const broken: LanguageModel = { configured: true, complete: async () => Promise.reject(new Error('away')) }
  expect(await suggestFor({ model: broken, log: silent }, two, signal)).toHaveLength(2)
})
