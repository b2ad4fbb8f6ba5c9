import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideFamilies, type Family, type SinglePattern } from './family-decision.ts'
import { familyTemplate, formOf } from './family-form.ts'

/** The templates of the families of some messages, and of those without one. */
function grouped(messages: readonly string[]): string[] {
  const byFrame = Map.groupBy(
    messages.map((message, at) => ({ message, skeleton: BigInt(at + 1), ...formOf(message) })),
    ({ frame }) => frame,
  )
  return [...byFrame.values()].flatMap((own) => {
    const { families, joined } = decideFamilies([], own)
    const alone = own.filter(({ skeleton }) => !joined.has(skeleton)).map(({ words, message }) => familyTemplate(words, message))
    return [...families.map(({ words }) => familyTemplate(words, own[0]?.message ?? '')), ...alone]
  })
}

test.each<[string, string[], string[]]>([
  ['users', ['order 1 placed by grace', 'order 2 placed by barbara'], ['order <*> placed by <*>']],
  ['names without an introduction, of three', ['grace left the game', 'ada left the game', 'linus left the game'], ['<*> left the game']],
  ['two words that may be anything', ['grace left the game', 'ada left the game'], ['grace left the game', 'ada left the game']],
  ['verbs', ['job 1 started', 'job 2 stopped', 'job 3 failed', 'job 4 paused', 'job 5 restarted'], []],
  ['methods', ['GET /a/b 200', 'PUT /a/b 200', 'POST /a/b 200', 'DELETE /a/b 200'], []],
  ['levels', ['INFO disk check', 'WARN disk check', 'ERROR disk check', 'DEBUG disk check'], []],
  ['states', ['link 1 is UP', 'link 1 is DOWN', 'link 1 is TESTING'], []],
  ['states of a service', ['service degraded', 'service healthy', 'service unavailable', 'service restored'], []],
  ['functions', ['getTasks: denied', 'getUsers: denied', 'getState: denied'], []],
  ['keys', ['speedIn = 1', 'speedOut = 1', 'speedMax = 1', 'speedMin = 1'], []],
  ['messages of one word', ['suspended', 'grace', 'ada', 'linus', 'dennis'], []],
  ['names of things', ['volume zeus mounted', 'volume hera mounted'], ['volume <*> mounted']],
  [
    'names of several words',
    ['The Print Spooler service was reset', 'The Remote Desktop Helper service was reset'],
    ['The <*> service was reset'],
  ],
  ['sizes in other units', ['read 3 bytes (1 KB) ok', 'read 5 bytes (2.5 MB) ok', 'read 12 bytes ok'], ['read <*> ok']],
  ['durations in other units', ['took 3 ms', 'took 4 s', 'took <1 sec'], ['took <*>']],
  ['lists', ['nodes 1, 2, 3 joined', 'nodes 4 joined'], ['nodes <*> joined']],
  ['amounts', ['paid 3 EUR', 'paid 4 USD', 'paid 5 GBP', 'paid 6 JPY'], ['paid <*> <*>']],
])('of %s', (_, messages, templates) => {
  const found = grouped(messages)
  if (templates.length > 0) expect(found.toSorted()).toEqual(templates.toSorted())
  else expect(found).toHaveLength(messages.length)
})

test('a family keeps its id and its patterns when others join, and gains masks', () => {
  const pattern = (skeleton: bigint, message: string): SinglePattern => ({ skeleton, words: formOf(message).words })
  const first = decideFamilies([], [pattern(1n, 'mail to grace in Oslo sent'), pattern(2n, 'mail to ada in Oslo sent')])
  const [family] = first.families
  expect(family?.words.filter((word) => word === '\0')).toHaveLength(1)
  const second = decideFamilies(first.families, [
    pattern(3n, 'mail to linus in Oslo sent'),
    pattern(4n, 'mail to grace in Lima sent'),
    pattern(5n, 'mail to grace in Oslo lost'),
  ])
  expect([...second.joined]).toEqual([
    [3n, family?.id],
    [4n, family?.id],
  ])
  expect(second.families.map(({ id }) => id)).toEqual([family?.id])
  expect(second.families[0]?.words.filter((word) => word === '\0')).toHaveLength(2)
})

const word = fc.constantFrom(
  'grace',
  'ada',
  'linus',
  'started',
  'stopped',
  'GET',
  'to',
  'user',
  'node\0',
  '\0',
  ':',
  '(',
  ')',
  'a.b',
  'x_y',
  '=',
)
const forms = fc.array(fc.array(word, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 30 })

test('every pattern is in at most one family, which has its words or masks, and two families never merge', () => {
  fc.assert(
    fc.property(forms, forms, (early, late) => {
      const singles = (all: string[][], from: number) => all.map((words, at): SinglePattern => ({ skeleton: BigInt(from + at), words }))
      const first = decideFamilies([], singles(early, 1))
      const alone = singles(early, 1).filter(({ skeleton }) => !first.joined.has(skeleton))
      const fresh = [...alone, ...singles(late, 1_000)]
      const second = decideFamilies(first.families, fresh)
      const families = new Map<bigint, Family>([...first.families, ...second.families].map((family) => [family.id, family]))
      for (const { id, words } of first.families) {
        const now = families.get(id)?.words ?? []
        for (const [at, one] of now.entries()) expect(one === '\0' || one === words[at]).toBe(true)
      }
      for (const { skeleton, words } of fresh) {
        const family = families.get(second.joined.get(skeleton) ?? 0n)
        for (const [at, one] of (family?.words ?? []).entries()) expect(one === '\0' || one === words[at]).toBe(true)
      }
      for (const id of second.joined.values()) expect(families.has(id)).toBe(true)
    }),
    { numRuns: 300 },
  )
})
