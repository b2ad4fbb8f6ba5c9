import type { Mail } from '../../../outgoing/mail.ts'
import { type Placeholders, renderText } from '../integrations/integrations.ts'
import { CHART_HEIGHT, CHART_WIDTH, chartOf, type Past } from './chart/chart.ts'
import { descriptionOf, factsOf, instant, number, placeholdersOf, type Told, titleOf, visible } from './words.ts'

/** mailFor is the letter about an occasion, as text and as HTML; a template replaces its body. Text from logs and from people stays text in both. */
export function mailFor(to: string, told: Told, template: string | undefined): Omit<Mail, 'id'> {
  const subject = titleOf(told)
  if (template === undefined) {
    const pictures = told.past ? [{ name: CHART, png: chartOf(told.past, boundsOf(told)) }] : []
    return { to, subject, text: plainText(told), html: html(told), pictures }
  }
  const values = placeholdersOf(told)
  if (isHtml(template)) return { to, subject, text: plainText(told), html: renderText(template, escapedAll(values)) }
  const text = visible(renderText(template, values))
  return { to, subject, text, html: page(subject, `<pre style="${WRAPPED}">${escaped(text)}</pre>`) }
}

const DIGEST_LINES_MAX = 200

/** digestFor is one letter about many notifications, when so many have come together that nobody would read each. */
export function digestFor(to: string, all: readonly Told[]): Omit<Mail, 'id'> {
  const subject = `${all.length} notifications of monitors`
  const shown = all.slice(0, DIGEST_LINES_MAX)
  const lineOf = (told: Told): string => `${instant(told.occasion.atMs)}  ${titleOf(told)}`
  const more = all.length > shown.length ? [`and ${all.length - shown.length} more`] : []
  const text = [
    `${subject}:`,
    '',
    ...shown.map((told) => [lineOf(told), ...(told.link === undefined ? [] : [`    ${told.link}`])].join('\n')),
    ...more,
    '',
  ]
  const items = shown.map((told) => {
    const line = escaped(lineOf(told))
    return `<li>${told.link === undefined ? line : `<a href="${escaped(told.link)}">${line}</a>`}</li>`
  })
  const list = [...items, ...more.map((line) => `<li>${line}</li>`)].join('\n')
  return { to, subject, text: text.join('\n'), html: page(subject, `<h2>${subject}</h2>\n<ul>\n${list}\n</ul>`) }
}

const isHtml = (template: string): boolean => template.trimStart().startsWith('<')

function plainText(told: Told): string {
  const facts = factsOf(told).map(([name, value]) => `${name}: ${visible(value)}`)
  return [
    titleOf(told),
    visible(descriptionOf(told)),
    facts.join('\n'),
    ...(told.samples.length === 0 ? [] : [['Latest events:', ...told.samples.map((line) => `  ${visible(line)}`)].join('\n')]),
    ...(told.report === undefined ? [] : [`What changed:\n\n${visible(told.report)}`]),
    ...(told.link === undefined ? [] : [told.link]),
    `Alert ${told.occasion.alertId} · ${told.region}`,
    '',
  ].join('\n\n')
}

const WRAPPED = 'white-space:pre-wrap;overflow-wrap:anywhere'
const colours = { ALERT: '#b3261e', WARN: '#a05a00', NO_DATA: '#5f6368', OK: '#1e7a34' } as const

function html(told: Told): string {
  const rows = factsOf(told).map(
    ([name, value]) =>
      `<tr><th style="text-align:left;vertical-align:top;padding:2px 12px 2px 0">${escaped(name)}</th><td style="${WRAPPED}">${escaped(visible(value))}</td></tr>`,
  )
  const parts = [
    `<h2 style="color:${colours[told.occasion.after]}">${escaped(titleOf(told))}</h2>`,
    `<p style="${WRAPPED}">${escaped(visible(descriptionOf(told)))}</p>`,
    `<table>${rows.join('')}</table>`,
    ...(told.past ? [chartIn(told, told.past)] : []),
    ...(told.samples.length === 0 ? [] : [`<h3>Latest events</h3>${told.samples.map(codeOf).join('')}`]),
    ...(told.report === undefined ? [] : [`<h3>What changed</h3>${codeOf(told.report)}`]),
    ...(told.link === undefined ? [] : [`<p><a href="${escaped(told.link)}">Open the monitor</a></p>`]),
    `<p style="color:#666">Alert ${escaped(told.occasion.alertId)} · ${escaped(told.region)}</p>`,
  ]
  return page(titleOf(told), parts.join('\n'))
}

const CHART = 'chart'

/** boundsOf are the lines in the chart: the thresholds that values are compared with. */
const boundsOf = ({ occasion: { monitor } }: Told): number[] =>
  monitor.warningThreshold === undefined ? [monitor.threshold] : [monitor.threshold, monitor.warningThreshold]

/** chartIn shows the picture that goes with the mail, and says in words what it shows. */
function chartIn(told: Told, { fromMs, toMs, values }: Past): string {
  const known = values.filter((value) => value !== null)
  const span = `from ${instant(fromMs)} to ${instant(toMs)}`
  const most = known.length === 0 ? '' : `, between ${number(Math.min(...known))} and ${number(Math.max(...known))}`
  const lines = `${boundsOf(told).length > 1 ? 'the dashed lines are at' : 'the dashed line is at'} ${boundsOf(told).map(number).join(' and ')}`
  return `<p><img src="cid:${CHART}" width="${CHART_WIDTH}" height="${CHART_HEIGHT}" alt="The value ${escaped(span + most)}" style="max-width:100%;height:auto;border:1px solid #ddd"><br><small style="color:#666">The value ${escaped(span + most)}; ${escaped(lines)}.</small></p>`
}

const codeOf = (text: string): string =>
  `<pre style="${WRAPPED};background:#f5f5f5;padding:8px;margin:4px 0">${escaped(visible(text))}</pre>`

const page = (title: string, body: string): string =>
  `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title></head>` +
  `<body style="font-family:sans-serif;line-height:1.5">\n${body}\n</body></html>`

const escapedAll = (values: Placeholders): Placeholders =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, escaped(visible(value))])) as Placeholders

const entities: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }),
)
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities.get(sign) ?? sign)
