import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../../kernel/errors.ts'
import { BodyText } from '../body-text.ts'
import { KeyNames } from '../names.ts'
import { JsonLeaves } from './leaves.ts'
import { JsonReader } from './reader.ts'

/** Keys as they stand in a body, with escapes; some nearly are others. */
const keys = ['a', 'b', 'message', 'messagf', 'mess\\u0061ge', 'service', 'service ', 'took_ms', 'took_mt', '', '\\"', 'é', 'k'.repeat(300)]
const values = [
  '"info"',
  '"infp"',
  '""',
  '"a \\"b\\" c"',
  '"ends with \\\\"',
  `"${'long text '.repeat(9)}"`,
  `"${'x'.repeat(31)}é"`,
  '"a,\\"b\\":1}"',
  '17',
  '17.25',
  '0',
  '-1',
  '1e5',
  'true',
  'false',
  'null',
  'NaN',
  '1.',
  '[]',
  '{}',
  '[1,"a",{"b":2}]',
  '{"a":1}',
  '{"a":{"b":null,"c":"x"},"d":2}',
  '{"a":{"b":null,"c":"x","d":[{}]}}',
  `${'{"a":'.repeat(20)}1${'}'.repeat(20)}`,
]
type Member = [key: string, value: string]
type Spacing = [colon: string, comma: string, end: string]
const member: fc.Arbitrary<Member> = fc.tuple(fc.constantFrom(...keys), fc.constantFrom(...values))
const spacing: fc.Arbitrary<Spacing> = fc.constantFrom<Spacing[]>(
  [':', ',', '}'],
  [': ', ', ', '}'],
  [':', ' ,\n\t', ' }'],
  [' :', ',', '\n}'],
)

/** How a record differs from the others of its body. */
type Change = { kind: 'none' | 'value' | 'key' | 'drop' | 'add' | 'twice' | 'swap' | 'space'; at: number; member: Member; spacing: Spacing }
const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom<Change['kind'][]>('none', 'none', 'value', 'value', 'key', 'drop', 'add', 'twice', 'swap', 'space'),
  at: fc.nat(20),
  member,
  spacing,
})

function changed(base: readonly Member[], { kind, at, member: [key, value], spacing: own }: Change, usual: Spacing): string {
  const members = base.map((one): Member => [...one])
  const place = at % Math.max(1, members.length)
  const [found] = members.slice(place)
  if (kind === 'value' && found) found[1] = value
  else if (kind === 'key' && found) found[0] = key
  else if (kind === 'drop') members.splice(place, 1)
  else if (kind === 'add') members.splice(place, 0, [key, value])
  else if (kind === 'twice' && found) members.push([found[0], value])
  else if (kind === 'swap') members.push(...members.splice(place, 1))
  const [colon, comma, end] = kind === 'space' ? own : usual
  return `{${members.map(([name, text]) => `"${name}"${colon}${text}`).join(comma)}${end}`
}

/** Records that mostly have the keys of a first one. */
const records = fc
  .tuple(fc.array(member, { maxLength: 9 }), spacing, fc.array(change, { minLength: 2, maxLength: 12 }))
  .map(([base, usual, changes]) => changes.map((one) => changed(base, one, usual)).join(''))
const damage = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:\\0an. \n', '\0', 'é')), { maxLength: 2 })
const bodies = fc
  .tuple(records, fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: damage }), fc.option(fc.nat()))
  .map(([text, damages, cut]) => {
    const bytes = Buffer.from(text)
    for (const [at, char] of damages) bytes.set(Buffer.from(char).subarray(0, 1), at % bytes.length)
    return cut === null || damages.length > 0 ? bytes : bytes.subarray(0, cut % (bytes.length + 1))
  })

/** Everything that can be seen of the values of all objects of a body, up to the first failure. */
function seen(body: Uint8Array, how: { isFlat?: boolean; keepsNull?: boolean }, isLearned: boolean, end = body.length): string[] {
  const reader = new JsonReader(body, 0, end)
  const text = new BodyText(body)
  const names = new KeyNames(body, text, () => undefined)
  let leaves = new JsonLeaves(reader, names, text, how)
  const found: string[] = []
  try {
    while (reader.peek() >= 0) {
      // A reader of one object never learns.
      if (!isLearned) leaves = new JsonLeaves(reader, names, text, how)
      leaves.open()
      for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
        const { isString, isOpen } = leaves
        leaves.finishValue()
        const { start, stop, escaped, at } = reader
        found.push(JSON.stringify([name.path, start, stop, isString && escaped, at, isString, isOpen, leaves.text(), leaves.repeated()]))
      }
      found.push(`end ${reader.at}`)
    }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    found.push(thrown.message)
  }
  return found
}

describe('the values of many objects', () => {
  test.each([
    ['with those inside of others', {}],
    ['member by member', { isFlat: true }],
    ['with null', { isFlat: true, keepsNull: true }],
  ])('are the same with keys that are known, %s', (_, how) => {
    fc.assert(
      fc.property(bodies, (body) => {
        expect(seen(body, how, true)).toEqual(seen(body, how, false))
      }),
      { numRuns: 2_000 },
    )
  })

  test('are the same in a part of the body', () => {
    fc.assert(
      fc.property(bodies, fc.nat(), (body, at) => {
        const end = at % (body.length + 1)
        expect(seen(body, {}, true, end)).toEqual(seen(body, {}, false, end))
      }),
      { numRuns: 2_000 },
    )
  })

  test('are the same beyond what is learned', () => {
    const all = Array.from({ length: 3_000 }, (_, n) => `{"k${n % 1_500}":${n},"b":{"c":"${n}"},"k${(n * 7) % 1_500}":"x"}`)
    const body = Buffer.from(all.join(''))
    expect(seen(body, {}, true)).toEqual(seen(body, {}, false))
  })
})
