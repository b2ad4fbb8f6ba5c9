import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Masker, skeletonText } from '../server/src/lines/skeleton.ts'
import { type Corpus, generatedCorpora, type LabelledMessage } from './corpora.ts'

/**
 * Measures how well messages are grouped into patterns, against labelled samples: node bench/patterns.ts FOLDER
 * FOLDER holds files `<System>.structured.csv` with the columns Content and EventId. Grouping accuracy is the share of lines whose group
 * holds exactly the lines of their true group. The speed is that of one thread, as a ratio to reading the same bytes once (a checksum).
 */
const say = (text: string) => process.stdout.write(`${text}\n`)

const folder = process.argv[2]
if (folder === undefined) throw new Error('say where the samples lie: node bench/patterns.ts FOLDER')

const files = readdirSync(folder).filter((name) => name.endsWith('.structured.csv'))
const samples = files.map((name): Corpus => {
  const lines = linesOf(readFileSync(join(folder, name), 'utf8'))
  return { name: name.replace('.structured.csv', ''), lines }
})
score('sample', samples)
for (const kind of ['open', 'held-out']) score(`generated, ${kind}`, generatedCorpora(join(import.meta.dirname, 'corpora', kind)))
speed(samples.flatMap(({ lines }) => lines.map(({ message }) => Buffer.from(message, 'utf8'))))

function score(title: string, corpora: readonly Corpus[]): void {
  say(`| ${title} | lines | true patterns | found | grouping accuracy |\n|---|---|---|---|---|`)
  const accuracies = corpora.map(({ name, lines }) => {
    const found = lines.map(({ message }) => skeletonText(message))
    const truth = lines.map(({ template }) => template)
    const accuracy = groupingAccuracy(truth, found)
    say(`| ${name} | ${lines.length} | ${new Set(truth).size} | ${new Set(found).size} | ${accuracy.toFixed(4)} |`)
    return accuracy
  })
  const mean = accuracies.reduce((sum, each) => sum + each, 0) / accuracies.length
  say(`| **mean** (lowest ${Math.min(...accuracies).toFixed(4)}) | | | | **${mean.toFixed(4)}** |\n`)
}

function groupingAccuracy(truth: readonly string[], found: readonly string[]): number {
  const sizes = (names: readonly string[]) => {
    const counted = new Map<string, number>()
    for (const name of names) counted.set(name, (counted.get(name) ?? 0) + 1)
    return counted
  }
  const pairs = truth.map((name, index) => `${name}\n${found[index]}`)
  const [ofTruth, ofFound, ofPair] = [sizes(truth), sizes(found), sizes(pairs)]
  const right = pairs.filter((pair, index) => {
    const size = ofPair.get(pair)
    return size === ofTruth.get(truth[index] ?? '') && size === ofFound.get(found[index] ?? '')
  })
  return right.length / truth.length
}

function speed(messages: readonly Buffer[]): void {
  const masker = new Masker()
  const rounds = 40
  const perSecond = (work: (message: Buffer) => void): number => {
    for (const message of messages) work(message)
    const started = performance.now()
    for (let round = 0; round < rounds; round += 1) for (const message of messages) work(message)
    return (rounds * messages.length * 1_000) / (performance.now() - started)
  }
  let sum = 0
  const limit = perSecond((message) => {
    for (let at = 0; at < message.length; at += 1) sum = (sum + (message[at] ?? 0)) | 0
  })
  const ours = perSecond((message) => masker.hash(message, 0, message.length))
  const unseen = perSecond((message) => skeletonText(message.toString('latin1')))
  const figure = (value: number) => Math.round(value / 1_000).toLocaleString('en')
  say('| thousand lines a second, one thread | | share of the limit |\n|---|---|---|')
  say(`| limit: every byte read once (checksum ${sum}) | ${figure(limit)} | 1 |`)
  say(`| hash of the pattern, as the intake does it | ${figure(ours)} | ${(ours / limit).toFixed(2)} |`)
  say(`| the same when no pattern was seen before | ${figure(unseen)} | ${(unseen / limit).toFixed(2)} |`)
}

function linesOf(text: string): LabelledMessage[] {
  const [head = [], ...rows] = cellsOf(text)
  const [content, event] = [head.indexOf('Content'), head.indexOf('EventId')]
  return rows.filter((row) => row.length === head.length).map((row) => ({ message: row[content] ?? '', template: row[event] ?? '' }))
}

/** Parses comma-separated values; quotes are doubled within quotes. */
function cellsOf(text: string): string[][] {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) =>
      [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? ''),
    )
}
