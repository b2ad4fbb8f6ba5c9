import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseSelector } from './query.ts'
import { matchDatasets, type SelectableDataset } from './selector.ts'

type Case = { text: string; picks: readonly string[] }
type Named = SelectableDataset & { short: string }

const { datasets, cases } = readCases(readFileSync(new URL('cases/selector.txt', import.meta.url), 'utf8'))

describe('the cases of the dataset selector', () => {
  test.each(cases)('$text', ({ text, picks }) => {
    expect(matchDatasets(parseSelector(text), datasets).map(({ short }) => short)).toEqual(picks)
  })
})

function readCases(file: string): { datasets: Named[]; cases: Case[] } {
  const found: Named[] = []
  const read: Case[] = []
  for (const line of file.split('\n')) {
    const last = read.at(-1)
    if (line.startsWith('dataset ')) found.push(datasetOf(line.slice('dataset '.length), found.length + 1))
    else if (line.startsWith('>> ')) read.push({ text: JSON.parse(line.slice(3)), picks: ['nothing was said'] })
    else if (line.startsWith('> ')) read.push({ text: line.slice(2), picks: ['nothing was said'] })
    else if (line.startsWith('picks') && last) last.picks = line.split(' ').slice(1)
    else if (line !== '' && !line.startsWith('#')) throw new Error(`no case line: ${line}`)
  }
  return { datasets: found, cases: read }
}

function datasetOf(line: string, number: number): Named {
  const [short = '', place = '', ...pairs] = [...line.matchAll(/"([^"]*)"|\S+/g)].map((match) => match[1] ?? match[0])
  const [collection = '', dataset = ''] = place.split('/')
  const tags = Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
  return { short, id, collection, dataset, tags, is_system_generated: collection.startsWith('.') }
}
