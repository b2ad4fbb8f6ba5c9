import { expect, test } from 'vitest'
import { firstTargets } from './targets.ts'

test.each([
  ['who creates it, by e-mail', true, 'ada@example.org', [{ id: 'w' }], [{ email: 'ada@example.org' }]],
  ['an empty address for an API key', true, undefined, [], [{ email: '' }]],
  ['the first integration where no mail can be sent', false, 'ada@example.org', [{ id: 'w' }, { id: 'c' }], [{ integration_id: 'w' }]],
  ['nobody where there is none', false, 'ada@example.org', [], []],
])('a new monitor notifies %s', (_, canSendMail, email, integrations, expected) => {
  expect(firstTargets(canSendMail, email, integrations)).toEqual(expected)
})
