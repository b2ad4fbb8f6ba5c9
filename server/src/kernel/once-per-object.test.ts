import { expect, test } from 'vitest'
import { oncePerObject } from './once-per-object.ts'

test('a value is computed once for each object, also an undefined one', () => {
  const computed: string[][] = []
  const first = oncePerObject((names: string[]): string | undefined => {
    computed.push(names)
    return names[0]
  })
  const [some, none] = [['a'], [] as string[]]
  expect([first(some), first(none), first(some), first(none), first(['a'])]).toEqual(['a', undefined, 'a', undefined, 'a'])
  expect(computed).toEqual([some, none, ['a']])
})
