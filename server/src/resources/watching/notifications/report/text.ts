import { shorten } from '../../../../kernel/shorten.ts'
import { visible } from '../message-text.ts'
import type { Facts, FoundPattern, FoundValue } from './facts.ts'

/** Another monitor that fired at about the same time. */
export type ConcurrentAlert = { readonly name: string; readonly status: string; readonly time: number }

const TEMPLATE_CHARS_MAX = 200
const EXAMPLE_CHARS_MAX = 300
const HEADLINE_NAMES = 5
const HEADLINE_CHARS_MAX = 60
const NO_FINDINGS = 'The full comparison with the time before did not finish in time; only a few fields were compared.'

/** The facts of a report, numbered so that a narrative can cite them. */
export function factLines(facts: Facts, samples: readonly string[], concurrent: readonly ConcurrentAlert[]): string {
  let number = 0
  const cited = (text: string): string => {
    number += 1
    return `[${number}] ${text}`
  }
  const sections: [title: string, lines: string[]][] = [
    ['Events', [cited(volume(facts))]],
    [changesTitle(facts), (facts.findings ?? []).map(({ text }) => cited(visible(text)))],
    ['Patterns of messages that came, grew or went', facts.patterns.map((pattern) => cited(patternLine(pattern, facts)))],
    [`Values that stand out among ${list(facts.keys)}`, facts.values.map((value) => cited(valueLine(value, facts)))],
    ['Latest events', samples.map((line) => cited(visible(line)))],
    [
      'Other monitors that fired about then',
      concurrent.map(({ name, status, time }) => cited(`${clock(time)} ${status}: ${visible(name)}`)),
    ],
  ]
  const shown = sections.filter(([, lines]) => lines.length > 0).map(([title, lines]) => [`${title}:`, ...lines].join('\n'))
  return [
    ...shown,
    ...(facts.findings === undefined ? [NO_FINDINGS] : []),
    ...(facts.patterns.length + facts.values.length + (facts.findings?.length ?? 0) === 0 ? [nothing(facts)] : []),
  ].join('\n\n')
}

/** The most telling values in a few words: `payments, checkout, 503, “HikariPool … not available”, new`. */
function changesTitle({ findings = [] }: Pick<Facts, 'findings'>): string {
  const names = findings
    .flatMap(({ shared, names: own }) => [...(shared?.names ?? []), ...own])
    .filter(({ kind }) => kind === 'VALUE' || kind === 'PATTERN')
  const words = [
    ...new Set(names.map(({ kind, value, label }) => (kind === 'PATTERN' ? `“${headlineText(label)}”` : headlineText(value ?? '')))),
  ]
  const shown = words.filter((word) => word !== '').slice(0, HEADLINE_NAMES)
  const isNew = findings.some(({ change }) => change === 'NEW')
  return shown.length === 0 ? 'What changed' : `What changed: ${[...shown, ...(isNew ? ['new'] : [])].join(', ')}`
}

const headlineText = (text: string): string => shorten(visible(text), HEADLINE_CHARS_MAX)

function volume({ window: { fromMs, toMs }, baseline, windows, now, before }: Facts): string {
  const usual = before / windows
  const ratio =
    usual === 0 ? (now === 0 ? '' : ', where there was none') : `, ${(now / usual).toFixed(now / usual < 10 ? 1 : 0)} times as many`
  const span = `${Math.round((toMs - fromMs) / 60_000)} minutes`
  const then = windows === 1 ? `in as much time from ${clock(baseline.fromMs)}` : `in each of the ${windows} such spans before`
  return `${now} events in the ${span} from ${clock(fromMs)} to ${clock(toMs)}; ${short(usual)} ${then}${ratio}`
}

function patternLine({ template, example, now, before, firstMs, lastMs }: FoundPattern, { windows, window }: Facts): string {
  const shown = visible(template).slice(0, TEMPLATE_CHARS_MAX)
  const seen = [
    ...(firstMs === undefined ? [] : [`first seen ${clock(firstMs)}`]),
    ...(lastMs === undefined ? [] : [`last ${clock(lastMs)}`]),
  ].join(', ')
  const isNew = before === 0 && (firstMs === undefined || firstMs >= window.fromMs)
  const change = isNew
    ? `new, ${now} times`
    : now === 0
      ? `gone, ${short(before / windows)} before`
      : `${now} times, ${short(before / windows)} before`
  const latest = now === 0 || example === '' ? '' : `\n    latest: ${visible(example).slice(0, EXAMPLE_CHARS_MAX)}`
  return `${change}: "${shown}"${seen === '' ? '' : ` (${seen})`}${latest}`
}

function valueLine({ key, value, now, before }: FoundValue, facts: Facts): string {
  const what = value === null ? `no ${visible(key)}` : `${visible(key)} = ${visible(value)}`
  return `${what}: ${percent(now, facts.now)} of the events, ${percent(before, facts.before)} before (${now} events)`
}

function nothing({ before, keys }: Facts): string {
  if (before === 0) return 'There were no events before to compare with.'
  return `No pattern and no value of ${list(keys)} stands out: what changed, changed everywhere alike.`
}

const list = (keys: readonly string[]): string => (keys.length === 0 ? 'any key' : keys.map(visible).join(', '))
const short = (number: number): string => (Number.isInteger(number) ? String(number) : number.toFixed(1))
const percent = (part: number, whole: number): string => {
  const share = whole === 0 ? 0 : (part / whole) * 100
  return `${share > 0 && share < 1 ? share.toFixed(1) : Math.round(share)} %`
}
const clock = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
