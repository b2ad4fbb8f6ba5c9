import type { Notebook, NotebookStep } from '@dendro/api'
import { quantity } from '../../parts/chart/numbers.ts'
import { paramsOfSearch } from '../../parts/query/search-details.ts'
import { rangeOf } from '../../parts/time/range-params.ts'
import { clockOf, DEFAULT_RANGE, nameOf } from '../../parts/time/time-range.ts'

/** What the query of a step finds now. */
/** StepResult has whole lines; their messages, where they have one, are shown on the page. */
export type StepResult = { count: number; isExact: boolean; lines: readonly { ms: number; text: string; message?: string | undefined }[] }
/** The result of a step, or why it could not be read. */
export type ReadStep = StepResult | { failure: string }

/** An investigation as Markdown: words, queries with their times in UTC and a link, and the newest lines that each query finds now. */
export function notebookMarkdown(
  { name, description, steps }: Notebook,
  results: readonly (ReadStep | undefined)[],
  linkOf: (step: NotebookStep) => string | undefined,
): string {
  const parts = steps.map((step, at) => stepMarkdown(step, at, results[at], linkOf(step)))
  return `${[`# ${oneLine(name)}`, ...(description ? [description] : []), ...parts].join('\n\n')}\n`
}

function stepMarkdown({ title, words, search_details: details }: NotebookStep, at: number, read: ReadStep | undefined, link?: string) {
  const result = read && 'count' in read ? read : undefined
  const range = details && rangeOf(paramsOfSearch(details), DEFAULT_RANGE)
  const facts = range && [
    `${nameOf(range, 'utc')} UTC`,
    ...(result ? [`${result.isExact ? '' : 'at least '}${quantity(result.count, 'event')}`] : []),
    ...(link ? [`[open in Dendro](${link})`] : []),
  ]
  return [
    `## ${at + 1}. ${oneLine(title ?? '') || (details ? 'Query' : 'Note')}`,
    ...(words?.trim() ? [words.trim()] : []),
    ...(details ? [fenced(details.where?.trim() || 'all events')] : []),
    ...(facts ? [facts.join(' · ')] : []),
    ...(read && 'failure' in read ? [`The query could not be run: ${oneLine(read.failure)}`] : []),
    ...(result && result.lines.length > 0
      ? [fenced(result.lines.map(({ ms, text }) => `${timeText(ms)}  ${oneLine(text)}`).join('\n'))]
      : []),
  ].join('\n\n')
}

const timeText = (ms: number): string => {
  const { day, clock } = clockOf(ms, 'utc')
  return `${day} ${clock}`
}

const oneLine = (text: string): string => text.replaceAll(/\s*[\r\n]+\s*/g, ' ').trim()

/** A block of code whose fence is longer than any run of backticks in it. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
