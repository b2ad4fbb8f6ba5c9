import { expect, test } from 'vitest'
import { conditionMemory } from './compiled-conditions.ts'

test('a condition is written once for each list of shapes, text and columns', () => {
  const remember = conditionMemory<number>()
  let written = 0
  const write = () => {
    written += 1
    return written
  }
  const shapes = ['a', 'b']
  const lines = { shapes, columns: ['c0'], hasParts: false } as const
  expect(remember('x', lines, write)).toBe(1)
  expect(remember('x', { ...lines, columns: [...lines.columns] }, write)).toBe(1)
  expect(remember('y', lines, write)).toBe(2)
  expect(remember('x', { ...lines, columns: ['c0', 's1'] }, write)).toBe(3)
  expect(remember('x', { ...lines, levels: ['c0'] }, write)).toBe(4)
  // Equal lists of other facts.
  expect(remember('x', { ...lines, shapes: [...shapes] }, write)).toBe(5)
  for (const open of [
    { columns: lines.columns, hasParts: false },
    { ...lines, hasParts: true },
  ]) {
    const before = written
    for (let round = 0; round < 2; round += 1) remember('x', open, write)
    expect(written).toBe(before + 2)
  }
})

test('the condition that was not used for longest is forgotten', () => {
  const remember = conditionMemory<string>()
  const lines = { shapes: ['a'], columns: [], hasParts: false }
  for (let text = 0; text < 64; text += 1) remember(String(text), lines, () => 'first')
  expect(remember('0', lines, () => 'again')).toBe('first')
  remember('more', lines, () => 'first')
  expect(remember('0', lines, () => 'again')).toBe('first')
  expect(remember('1', lines, () => 'again')).toBe('again')
})
