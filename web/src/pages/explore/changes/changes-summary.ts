import type { ChangesReply } from '@dendro/api'
import { count, quantity } from '../../../parts/chart/numbers.ts'
import { utcSpanText } from './finding-monitor.ts'

const FINDINGS_SHOWN = 5

type Compared = Pick<ChangesReply, 'range' | 'baseline' | 'findings' | 'findings_total'>

/** A message to the team: what changed, when, and a link that shows the same. Times are in UTC, since readers may be anywhere. */
export function changesSummary({ range, baseline, findings, findings_total }: Compared, where: string, link: string): string {
  const more = findings_total - Math.min(findings.length, FINDINGS_SHOWN)
  return [
    `What changed, ${utcSpanText(range)}: ${quantity(range.count, 'event')}, ${count(baseline.count)} in ${utcSpanText(baseline)}`,
    ...(where === '' ? [] : [`Filter: ${where}`]),
    ...findings.slice(0, FINDINGS_SHOWN).map(({ text }, at) => `${at + 1}. ${text}`),
    ...(findings.length === 0 ? ['Nothing stands out.'] : []),
    ...(more > 0 ? [`${count(more)} more: see the link.`] : []),
    link,
  ].join('\n')
}
