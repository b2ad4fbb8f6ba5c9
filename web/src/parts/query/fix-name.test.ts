import { expect, test } from 'vitest'
import { fixName } from './fix-name.ts'

test.each([
  ['', '(nothing)'],
  [' ', '(a space)'],
  [" 'error' ", "'error'"],
])('a fix of %j is named %s', (text, name) => expect(fixName(text)).toBe(name))
