import { isUuid } from '@dendro/api'
import { parseGroups } from '@dendro/language/select'
import { parseTimeRange } from '@dendro/language/time-range'
import { type Range, readRange, timeRangeOf, type Zone } from '@dendro/language/typed-range'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { UsageError } from './failure.ts'

/** The options that select events, the same in every command. */
export type QueryOptions = { dataset?: string[]; fromExpr?: string; range?: string; zone?: Zone; where?: string }

type Sources = { from: string[] } | { from_expr: string }

export const DEFAULT_RANGE = '15m'
const SELECTION = 'Selection:'

export function addSources(command: Command): Command {
  return command
    .addOption(
      new Option('-d, --dataset <name>', 'a dataset: its name, collection.dataset, or its id; may be repeated; all datasets when absent')
        .argParser(collect)
        .helpGroup(SELECTION),
    )
    .addOption(new Option('--from-expr <selector>', "a dataset selector such as collection = 'shop'").helpGroup(SELECTION))
}

export function addRange(command: Command, shownDefault = DEFAULT_RANGE): Command {
  return command
    .addOption(
      new Option(
        '-t, --range <range>',
        `the time range: 15m, 'last 3 days', yesterday, '2026-11-20 09:00 to 2026-11-20 10:00' (default: ${shownDefault})`,
      ).helpGroup(SELECTION),
    )
    .addOption(
      new Option('--zone <zone>', 'the time zone of input and output').choices(['utc', 'local']).default('utc').helpGroup(SELECTION),
    )
}

export const collect = (word: string, before: unknown): string[] => [...(Array.isArray(before) ? before.map(String) : []), word]

/** Parses a whole number from `min` to `max`. */
export const wholeNumber =
  (min: number, max: number) =>
  (word: string): number => {
    const number = Number(word)
    if (!/^\d+$/.test(word) || number < min || number > max)
      throw new InvalidArgumentError(`It takes a whole number from ${min} to ${max}.`)
    return number
  }

/** The filter: the words after the command, or --where. */
export function filterOf(words: readonly string[], { where }: QueryOptions): { where?: string } {
  const typed = words.join(' ').trim()
  if (typed !== '' && where !== undefined) throw new UsageError('give the query either as words or with --where')
  const filter = where ?? typed
  return filter === '' ? {} : { where: filter }
}

/** The datasets in the form of the API. Names without a dot become a selector. */
export function sourcesOf(options: QueryOptions): Sources {
  const { dataset = [], fromExpr } = options
  if (dataset.length > 0 && fromExpr !== undefined) throw new UsageError('--dataset excludes --from-expr')
  if (dataset.length === 0) return { from_expr: fromExpr ?? '*' }
  return dataset.every((name) => isUuid(name) || name.includes('.')) ? { from: dataset } : { from_expr: selectorOf(dataset) }
}

/** The datasets as a selector, for endpoints that do not take names. */
export function selectorOf(names: readonly string[]): string {
  return names.map(conditionFor).join(' OR ')
}

function conditionFor(name: string): string {
  if (isUuid(name)) return `log_id = ${quote(name)}`
  const splits = [...name.matchAll(/\./g)].map(({ index }) => [name.slice(0, index), name.slice(index + 1)] as const)
  const pairs = splits.filter(([collection, dataset]) => collection !== '' && dataset !== '')
  const named = pairs.map(([collection, dataset]) => `(collection = ${quote(collection)} AND dataset = ${quote(dataset)})`)
  return named.length > 0 ? named.join(' OR ') : `dataset = ${quote(name)}`
}

export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Parses the time range as the web app does. */
export function rangeOf({ range = DEFAULT_RANGE, zone = 'utc' }: QueryOptions, nowMs: number): Range {
  const parsed = readRange(range, nowMs, zone)
  if (parsed) return parsed
  throw new UsageError(
    `--range: '${range}' is not a time range; examples: 15m, 'last 3 days', yesterday, '2026-11-20 09:00 to 2026-11-20 10:00'`,
  )
}

export const rangeBody = (options: QueryOptions, nowMs: number) => timeRangeOf(rangeOf(options, nowMs))

const DAY_MS = 86_400_000
const LONGER: readonly (readonly [string, number])[] = [
  ['1d', DAY_MS],
  ['7d', 7 * DAY_MS],
  ['30d', 30 * DAY_MS],
  ['1y', 365 * DAY_MS],
]

/** The next longer range to try; undefined when there is none. */
export function longerRange(options: QueryOptions, nowMs: number): string | undefined {
  const range = rangeOf(options, nowMs)
  const { fromMs, toMs } = 'words' in range ? parseTimeRange(range.words, nowMs) : range
  return LONGER.find(([, ms]) => ms > toMs - fromMs)?.[0]
}

/** The keys by which to group. A name may be given as it is or as the query language writes it, where several are separated by commas. */
export function groupKeys(name: string): readonly string[] {
  try {
    return parseGroups([name])
  } catch {
    return [name]
  }
}
