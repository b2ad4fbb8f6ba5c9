import { printFilter } from '@dendro/language/print'
import { visible } from '../../watching/notifications/notifications.ts'
import type { Deviation, Evidence, NeighborEvent } from './evidence.ts'

export type Explanation = {
  /** Numbered, so that a narrative can cite them. */
  readonly facts: readonly string[]
  readonly neighbors: readonly string[]
  readonly next: readonly string[]
}

/** Puts evidence into sentences; `offset` is the time zone offset of the caller, such as +02:00. */
export function explanationOf(evidence: Evidence, offset = 'Z'): Explanation {
  const time = (ms: number): string => timeText(ms, offset)
  const { dataset, timeMs, status, text, template, around, before, hours, trend, week, deviations, sampled, elsewhere } = evidence
  const place = `${dataset.collection}/${dataset.dataset}`
  const facts = [
    `${time(timeMs)}, ${place}, ${status}: ${visible(text)}`,
    `Its pattern is: ${visible(template)}`,
    `${times(around)} in the hour around it, ${times(before)} in the ${hours} hours before: ${trendText(trend, around)}.`,
    week.count <= 1 || week.firstMs === undefined
      ? 'Nothing of this pattern came in the 7 days before it.'
      : `${times(week.count)} in the 7 days up to it, first at ${time(week.firstMs)}.`,
    ...deviations.map((sign) => deviationText(sign, sampled)),
    ...(elsewhere.length > 0
      ? [`Errors elsewhere within a minute of it: ${elsewhere.map((one) => `${one.place} ${one.count}`).join(', ')}.`]
      : []),
  ]
  return {
    facts: facts.map((fact, index) => `[${index + 1}] ${fact}`),
    neighbors: evidence.neighbors.map((neighbor) => neighborText(neighbor, time)),
    next: nextQueries(evidence),
  }
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

const trendText = (trend: Evidence['trend'], around: number): string =>
  trend === 'more'
    ? 'that is more than chance explains'
    : trend === 'fewer'
      ? 'it is getting rarer'
      : around > 1
        ? 'as often as before'
        : 'a lone event'

function deviationText({ key, value, now, before }: Deviation, { ofPattern, others }: Evidence['sampled']): string {
  const share = (count: number, of: number): string => `${Math.round((count / of) * 100)} %`
  return `${key} is ${visible(value)} in ${share(now, ofPattern)} of these events, and in ${share(before, others)} of the others.`
}

const neighborText = ({ timeMs, status, text, isItself }: NeighborEvent, time: (ms: number) => string): string =>
  `${isItself ? '>' : ' '} ${time(timeMs)} ${status} ${visible(text).split('\n')[0]?.slice(0, 200)}`

/** Queries to continue the investigation. */
function nextQueries({ where, keys, deviations, dataset }: Evidence): string[] {
  const at = { position: 0, length: 0 }
  const is = (key: string, value: string): string =>
    printFilter({ kind: 'compare', key, operator: '=', value: { kind: 'text', text: value }, at })
  const [sign] = deviations
  return [
    ...keys.map(({ key, value }) => `everything with the same ${key}, in all datasets: ${is(key, value)}`),
    `all events of the pattern in ${dataset.collection}/${dataset.dataset}: ${where}`,
    ...(sign ? [`what else ${sign.key} ${visible(sign.value)} does: ${is(sign.key, sign.value)}`] : []),
  ]
}

export function timeText(ms: number, offset: string): string {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? []
  const shiftMs = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
  const text = new Date(ms + shiftMs).toISOString().slice(0, -1).replace('T', ' ')
  return `${text} ${offset === 'Z' ? 'UTC' : offset}`
}
