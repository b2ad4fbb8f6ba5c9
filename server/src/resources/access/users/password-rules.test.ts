import { expect, test } from 'vitest'
import { brokenRule } from './password-rules.ts'

const jane = { email: 'jane.doe@acme-tools.io', first_name: 'Jane', last_name: 'Doe' }

test.each([
  ['eleven char', 'must have 12 to 128 characters'],
  ['x'.repeat(129), 'must have 12 to 128 characters'],
  ['aaaaaaaaaaaaaaaa', 'repeats too few different characters'],
  ['abababababababab', 'repeats too few different characters'],
  ['abcdefghijklmnop', 'is a plain sequence of characters'],
  ['ponmlkjihgfedcba', 'is a plain sequence of characters'],
  ['12345678901234', 'is a plain sequence of characters'],
  ['qwertyuiopasdf', 'is a plain sequence of characters'],
  ['hunger-hunger-hunger-', 'repeats one short piece'],
  ['Password1234!', 'is a common one, and among the first that anybody would try'],
  ['P@ssw0rd-2026!!', 'is a common one, and among the first that anybody would try'],
  ['welcome2dendro', 'is a common one, and among the first that anybody would try'],
  ['Summer-Winter-2026', 'is a common one, and among the first that anybody would try'],
  ['Jane.Doe.1984', 'is made of the name or the e-mail of its owner'],
  ['jane.doe@acme-tools.io', 'is made of the name or the e-mail of its owner'],
  ['acme-tools-jane!', 'is made of the name or the e-mail of its owner'],
])('%s is refused', (password, rule) => {
  expect(brokenRule(password, jane)).toBe(rule)
})

test.each([
  'correct horse battery staple',
  'jane likes to row at dawn',
  'тюлень-катается-на-льду',
  '839205716402',
  'kx7 pq9 vt2 z',
  '🦦🛶🌊🌙🦦🛶🌊🌙🏔🔥🍵🐚',
])('%s is accepted', (password) => {
  expect(brokenRule(password, jane)).toBeUndefined()
})

test('length counts characters as people see them typed, not storage units', () => {
  expect(brokenRule('🦦🛶🌊🌙🏔🔥', jane)).toBe('must have 12 to 128 characters')
})
