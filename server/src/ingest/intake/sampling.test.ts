import { describe, expect, test } from 'vitest'
import { LineSampler, SAMPLE_BYTES, sampledRow } from './sampling.ts'

const bytes = (text: string) => new Uint8Array(Buffer.from(text))

describe('lines are sampled', () => {
  test('in proportion to their bytes, whatever repeats in them', () => {
    const random = randomFrom(3)
    const [short, long] = [SAMPLE_BYTES / 4, (3 * SAMPLE_BYTES) / 4]
    const sums = { short: 0, long: 0 }
    for (let round = 0; round < 2_000; round += 1) {
      const sampler = new LineSampler(random)
      for (let at = 0; at < 4; at += 1) {
        sums.short += sampler.weigh(short)
        sums.long += sampler.weigh(long)
      }
    }
    const whole = 2_000 * 4
    expect(sums.short / (whole * short)).toBeGreaterThan(0.93)
    expect(sums.short / (whole * short)).toBeLessThan(1.07)
    expect(sums.long / (whole * long)).toBeGreaterThan(0.96)
    expect(sums.long / (whole * long)).toBeLessThan(1.04)
  })

  test('with one line standing for all of its own bytes', () => {
    expect(new LineSampler(() => 0.5).weigh(10 * SAMPLE_BYTES)).toBe(10 * SAMPLE_BYTES)
  })
})

describe('the bytes of a sampled line are divided', () => {
  const sumOf = (fields: readonly (readonly [string, number])[]) => fields.reduce((sum, [, size]) => sum + size, 0)

  test('among its fields, those of objects by their paths', () => {
    const { fields } = sampledRow(bytes(JSON.stringify({ a: 'x'.repeat(100), b: { c: 1, d: { e: { f: 2 } } }, g: [1, 2], h: {} })), 1_000)
    expect(fields.map(([name]) => name).toSorted()).toEqual(['a', 'b.c', 'b.d.e', 'g', 'h'])
    expect(fields[0]?.[1]).toBeGreaterThan(600)
    expect(sumOf(fields)).toBeCloseTo(1_000, 6)
  })

  test.each([
    ['what is no object', 'plain text', '@text'],
    ['a list', '[1]', '@text'],
    ['an empty object', '{}', '@text'],
    ['broken JSON', '{"a":', '@text'],
    ['a long line', JSON.stringify({ a: 'x'.repeat(20_000) }), '@long'],
  ])('not for %s', (_, line, name) => {
    expect(sampledRow(bytes(line), 64).fields).toEqual([[name, 64]])
  })

  test('with a bound for their number', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key_${at}`, at]))
    const { fields } = sampledRow(bytes(JSON.stringify(many)), 1_000)
    expect(fields).toHaveLength(51)
    expect(fields.at(-1)?.[0]).toBe('')
    expect(sumOf(fields)).toBeCloseTo(1_000, 6)
  })

  test('also for names such as __proto__ and constructor', () => {
    expect(sampledRow(bytes('{"__proto__":1,"constructor":2}'), 10).fields.map(([name]) => name)).toEqual(['constructor', '__proto__'])
  })
})

/** Numbers from 0 to 1 that are the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
