import { expect, test } from 'vitest'
import { takeMembers } from './json-members.ts'

const without = (line: string, path: string): string | undefined => {
  const taken = takeMembers(Buffer.from(line), path)
  return taken && Buffer.from(taken.line).toString('utf8')
}

test.each([
  ['{"a": 1, "b": 2, "c": 3}', 'b', '{"a": 1, "c": 3}'],
  ['{"a": 1, "b": 2, "c": 3}', 'a', '{"b": 2, "c": 3}'],
  ['{"a": 1, "b": 2, "c": 3}', 'c', '{"a": 1, "b": 2}'],
  ['  {\t"a" :1 ,\n "b" : 2 } ', 'a', '  {\t"b" : 2 } '],
  ['{"o": { "a": 1, "b": 2 }, "c": [1, 2]}', 'o.a', '{"o": { "b": 2 }, "c": [1, 2]}'],
  ['{ "a": 1 }', 'a', '{}'],
  ['{"a": 1, "a": 2}', 'a', '{}'],
  ['{"a": 1, "b": 2, "a": 3, "c": 4}', 'a', '{"b": 2, "c": 4}'],
])('%s without %s keeps all other bytes', (line, path, left) => {
  expect(without(line, path)).toBe(left)
})
