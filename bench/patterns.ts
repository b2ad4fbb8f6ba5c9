import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MessageHash } from '../server/src/lines/shredder/message-hash.ts'
import { evidence } from '../server/src/patterns/families.ts'
import { decideFamilies } from '../server/src/patterns/family-decision.ts'
import { formOf } from '../server/src/patterns/family-form.ts'
import { skeletonText } from '../server/src/patterns/skeleton.ts'
import { type Corpus, generatedCorpora, type LabelledMessage } from './patterns/corpora.ts'
import { byFamily, byPattern, candidateWeights, groupingAccuracy, leaveOneOut, meanOf } from './patterns/pattern-scores.ts'

/**
 * Measures how well messages are grouped into patterns, against labelled samples: node bench/patterns.ts FOLDER
 * FOLDER holds files `<System>.structured.csv` with the columns Content and EventId. Grouping accuracy is the share of lines whose group
 * holds exactly the lines of their true group. Generated corpora are scored too. The speed is that of one thread, as a ratio to reading the same bytes once (a checksum).
 */
const say = (text: string) => process.stdout.write(`${text}\n`)

const folder = process.argv[2]
if (folder === undefined) throw new Error('say where the samples lie: node bench/patterns.ts FOLDER')

/** Of each generated system, for a million in all. */
const GROWTH_LINES = 45_500

const files = readdirSync(folder).filter((name) => name.endsWith('.structured.csv'))
const samples = files.map((name): Corpus => {
  const lines = linesOf(readFileSync(join(folder, name), 'utf8'))
  return { name: name.replace('.structured.csv', ''), lines }
})
const kinds = { samples, 'generated, seen while choosing': generated('open'), 'generated, held out': generated('held-out') }
for (const [title, corpora] of Object.entries(kinds)) score(title, corpora)
leftOut()
speed(samples.flatMap(({ lines }) => lines.map(({ message }) => Buffer.from(message, 'utf8'))))
scale()
growth()

function generated(kind: string): Corpus[] {
  return generatedCorpora(join(import.meta.dirname, 'corpora', kind))
}

function score(title: string, corpora: readonly Corpus[]): void {
  say(`| ${title} | true | patterns | families | accuracy of patterns | of families | in 20 rounds |\n|---|---|---|---|---|---|---|`)
  const rows = corpora.map((corpus) => {
    const [patterns, families, rounds] = [byPattern(corpus), byFamily(corpus), byFamily(corpus, 20)]
    const truth = new Set(corpus.lines.map(({ template }) => template)).size
    const accuracies = [patterns, families, rounds].map((found) => groupingAccuracy(corpus, found))
    const counts = [truth, new Set(patterns).size, new Set(families).size]
    say(`| ${corpus.name} | ${counts.join(' | ')} | ${accuracies.map((one) => one.toFixed(3)).join(' | ')} |`)
    return accuracies
  })
  const columns = [0, 1, 2].map((at) => rows.map((row) => row[at] ?? 0))
  say(
    `| **mean** (lowest) | | | | ${columns.map((one) => `**${meanOf(one).toFixed(3)}** (${Math.min(...one).toFixed(3)})`).join(' | ')} |\n`,
  )
}

/** The weights are chosen by the other seven samples. */
function leftOut(): void {
  const found = leaveOneOut(samples, candidateWeights(evidence))
  say('| left out | accuracy with the weights of the others | value, name, noun |\n|---|---|---|')
  for (const { name, accuracy, weights } of found) {
    say(`| ${name} | ${accuracy.toFixed(3)} | ${[weights.value[0], weights.name[0], weights.prose[2]].join(', ')} |`)
  }
  say(`| **mean** | **${meanOf(found.map(({ accuracy }) => accuracy)).toFixed(3)}** | |\n`)
}

/** The CPU time of deciding about new patterns when a frame already has many. */
function scale(): void {
  const words = (count: number, other: string) =>
    Array.from({ length: count }, (_, at) => ({
      skeleton: BigInt(at + 1),
      words: formOf(`${other}${namedBy(at)} said ${namedBy(at * 7)} twice`).words,
    }))
  say('| patterns of one frame without a family | CPU ms of one decision |\n|---|---|')
  for (const count of [100, 1_000]) {
    const singles = words(count, 'x')
    const before = process.cpuUsage()
    decideFamilies([], singles)
    const { user, system } = process.cpuUsage(before)
    say(`| ${count} | ${((user + system) / 1_000).toFixed(0)} |`)
  }
}

/** How many patterns and families a million events have, decided in twenty rounds: families stop growing when the templates are known. */
function growth(): void {
  const corpora = ['open', 'held-out'].flatMap((kind) => generatedCorpora(join(import.meta.dirname, 'corpora', kind), GROWTH_LINES))
  const found = corpora.map((corpus) => ({ patterns: byPattern(corpus), families: byFamily(corpus, 20) }))
  const templates = corpora.reduce((sum, { lines }) => sum + new Set(lines.map(({ template }) => template)).size, 0)
  say(`| events of ${corpora.length} systems with ${templates} templates | patterns | families and single patterns |\n|---|---|---|`)
  for (const share of [0.01, 0.05, 0.1, 0.25, 0.5, 1]) {
    const until = Math.round(GROWTH_LINES * share)
    const distinct = (of: (one: (typeof found)[number]) => readonly string[]) =>
      found.reduce((sum, one) => sum + new Set(of(one).slice(0, until)).size, 0).toLocaleString('en')
    say(
      `| ${(until * corpora.length).toLocaleString('en')} | ${distinct(({ patterns }) => patterns)} | ${distinct(({ families }) => families)} |`,
    )
  }
  say('')
}

function namedBy(number: number): string {
  return [...String(number)].map((digit) => 'qzjxkvbwyp'[Number(digit)]).join('')
}

function speed(messages: readonly Buffer[]): void {
  const masker = new MessageHash()
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
