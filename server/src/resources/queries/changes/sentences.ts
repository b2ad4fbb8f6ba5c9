import { printFilter } from '@dendro/language/print'
import type { Condition } from '@dendro/language/tree'
import { shorten } from '../../../kernel/shorten.ts'
import type { RangeTotals } from '../../../reading/reading.ts'
import type { EventSet, FoundChange } from './findings.ts'

const NOWHERE = { position: 0, length: 0 }
const LABEL_CHARS_MAX = 240
const MORE_NAMES_MAX = 3
const whole = new Intl.NumberFormat('en')

/** The filter that selects the events of a set. */
export const filterOfSet = (set: EventSet): string => printFilter(conditionOf(set))

/** The condition that selects the events of a set. */
export function conditionOf({ key, value, kind }: EventSet): Condition {
  const text = value ?? ''
  switch (kind) {
    case 'MISSING':
      return { kind: 'exists', key, negated: true, at: NOWHERE }
    case 'PRESENT':
      return { kind: 'exists', key, negated: false, at: NOWHERE }
    case 'AT_LEAST':
      return { kind: 'compare', key, operator: '>=', value: { kind: 'number', text }, at: NOWHERE }
    case 'BELOW':
      return { kind: 'compare', key, operator: '<', value: { kind: 'number', text }, at: NOWHERE }
    default:
      return { kind: 'compare', key, operator: '=', value: { kind: 'text', text }, at: NOWHERE }
  }
}

/** The name of a set for people. A pattern is shown by its template. */
export function labelOf({ key, value, kind }: EventSet, template: string | undefined): string {
  switch (kind) {
    case 'PATTERN':
      return printable(template ?? value ?? '')
    case 'MISSING':
      return `${printable(key)} = (none)`
    case 'PRESENT':
      return `${printable(key)} = (any)`
    case 'AT_LEAST':
      return `${printable(key)} ≥ ${sizeOf(value)}`
    case 'BELOW':
      return `${printable(key)} < ${sizeOf(value)}`
    default:
      return `${printable(key)} = ${value === '' ? '(empty)' : printable(value ?? '')}`
  }
}

const sizeOf = (value: string | null): string => new Intl.NumberFormat('en', { maximumSignificantDigits: 6 }).format(Number(value))

/** In one line, without control characters, and not too long. */
const printable = (text: string): string => shorten(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim(), LABEL_CHARS_MAX)

type NamedChange = Pick<FoundChange, 'change' | 'now' | 'before'> & { readonly labels: readonly string[]; readonly isPattern: boolean }

/** The values that events of a finding share, how many of them do, and which share of the others. */
type Shared = { readonly labels: readonly string[]; readonly count: number; readonly othersShare: number }
type ExplainedSentence = NamedChange & { readonly shared: Shared | undefined }

/** How a finding is said: events of a range are compared with earlier ones, selected events with the others. */
export type ComparedWords = 'ranges' | 'selection'

/** The finding as a few sentences. What its events share comes first. */
export function sentenceOf({ shared, ...named }: ExplainedSentence, totals: RangeTotals, words: ComparedWords = 'ranges'): string {
  const changed = changeSentence(named, totals, words)
  return shared ? `${sharedSentence(named, shared, words)} ${changed}` : changed
}

function sharedSentence(
  { change, now, before, labels: [label = ''], isPattern }: NamedChange,
  shared: Shared,
  words: ComparedWords,
): string {
  const isIncrease = change === 'NEW' || change === 'INCREASED'
  const all = isIncrease ? now : before
  const who = shared.count === all ? `All ${whole.format(all)}` : `${whole.format(shared.count)} of ${whole.format(all)}`
  const [share, have] = isIncrease ? ['share', 'have'] : ['shared', 'had']
  const others = words === 'ranges' ? 'of the others' : 'of the rest'
  const contrast = shared.othersShare === 0 ? `no others ${have}` : `${percent(shared.othersShare, 1)} ${others} ${have}`
  return `${who} events ${isPattern ? 'like' : 'with'} ${quotedIf(label, isPattern)} ${share} ${shared.labels.join(' and ')}, which ${contrast}.`
}

const quotedIf = (label: string, isPattern: boolean): string => (isPattern ? `“${label}”` : label)

function changeSentence(named: NamedChange, totals: RangeTotals, words: ComparedWords): string {
  const { labels, isPattern, change } = named
  const [label = '', ...others] = labels
  const shown = quotedIf(label, isPattern)
  const sentence = (words === 'ranges' ? rangeSentences : selectionSentences)(shown, named, totals)[change]
  if (others.length === 0) return sentence
  const more = others.length - MORE_NAMES_MAX
  return `${sentence} Same events: ${others.slice(0, MORE_NAMES_MAX).join('; ')}${more > 0 ? `; and ${more} more` : ''}.`
}

type Sentences = (shown: string, counts: Pick<NamedChange, 'now' | 'before'>, totals: RangeTotals) => Record<FoundChange['change'], string>

const rangeSentences: Sentences = (shown, { now, before }, totals) => {
  const [share, earlier] = [percent(now, totals.now), percent(before, totals.before)]
  const counts = `${whole.format(before)} before, ${whole.format(now)} now`
  return {
    NEW: `New: ${shown} in ${events(now)} (${share}), none before.`,
    VANISHED: `Vanished: ${shown} had ${events(before)} (${earlier}) before, none now.`,
    INCREASED: `${shown} rose from ${earlier} to ${share} of the events (${counts}).`,
    DECREASED: `${shown} fell from ${earlier} to ${share} of the events (${counts}).`,
  }
}

const selectionSentences: Sentences = (shown, { now, before }, totals) => {
  const both = `${shown} in ${percent(now, totals.now)} of these events and ${percent(before, totals.before)} of the others (${whole.format(now)} and ${whole.format(before)}).`
  return {
    NEW: `Only here: ${shown} in ${events(now)} (${percent(now, totals.now)}).`,
    VANISHED: `Only in the others: ${shown} in ${events(before)} (${percent(before, totals.before)}).`,
    INCREASED: both,
    DECREASED: both,
  }
}

type RangeLengths = { readonly nowMs: number; readonly beforeMs: number }

/** The volume of both ranges, and the first finding. */
export function summaryOf(totals: RangeTotals, lengths: RangeLengths, first: string | undefined): string {
  if (totals.now === 0 && totals.before === 0) return 'No events match in either range.'
  if (totals.before === 0) return `${events(totals.now)}, none before, so there is nothing to compare with.`
  if (totals.now === 0) return `No events in the range, ${whole.format(totals.before)} before.`
  const volume = `${events(totals.now)}, ${volumeChange(totals, lengths)} before${lengths.nowMs === lengths.beforeMs ? '' : ' in as much time'}.`
  return `${volume} ${first ?? 'Nothing stands out: no value and no pattern has another share and another rate than before.'}`
}

/** The number of selected events and of the others, and the first finding. */
export function selectionSummaryOf(totals: RangeTotals, first: string | undefined): string {
  if (totals.now === 0) return 'No events are selected.'
  if (totals.before === 0) return `${events(totals.now)}, and no others to compare with.`
  const volume = `${events(totals.now)}, compared with ${whole.format(totals.before)} others.`
  return `${volume} ${first ?? 'Nothing stands out: no value and no pattern has another share than in the others.'}`
}

/** Volumes that differ by less are called equal. */
const ABOUT = 0.05

function volumeChange({ now, before }: RangeTotals, { nowMs, beforeMs }: RangeLengths): string {
  const ratio = now / Math.max(1, nowMs) / (before / Math.max(1, beforeMs))
  if (Math.abs(ratio - 1) < ABOUT) return 'about as many as'
  if (ratio >= 2) return `${ratio.toFixed(ratio < 9.95 ? 1 : 0)} times as many as`
  return ratio > 1 ? `${Math.round(100 * (ratio - 1))} % more than` : `${Math.floor(100 * (1 - ratio))} % fewer than`
}

const events = (count: number): string => `${whole.format(count)} event${count === 1 ? '' : 's'}`

function percent(part: number, all: number): string {
  const share = all === 0 ? 0 : (100 * part) / all
  if (share === 0) return '0 %'
  if (share < 0.1) return 'under 0.1 %'
  return `${share > 99.9 && share < 100 ? 'over 99.9' : share.toFixed(share < 9.95 ? 1 : 0)} %`
}
