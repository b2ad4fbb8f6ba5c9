import type { MailMessage } from '../../../outgoing/mail.ts'
import { type Placeholders, renderText } from '../integrations/integrations.ts'
import { CHART_HEIGHT, CHART_WIDTH, chartOf, type ValueHistory } from './chart/chart.ts'
import { descriptionOf, factsOf, instant, type NotificationContent, number, placeholdersOf, titleOf, visible } from './message-text.ts'

/** Builds the mail of an occasion, as text and HTML; a template replaces the body. Text from events and users is escaped. */
export function mailFor(to: string, content: NotificationContent, template: string | undefined): Omit<MailMessage, 'id'> {
  const subject = titleOf(content)
  if (template === undefined) {
    const pictures = content.past ? [{ name: CHART, png: chartOf(content.past, boundsOf(content)) }] : []
    return { to, subject, text: plainText(content), html: html(content), pictures }
  }
  const values = placeholdersOf(content)
  if (isHtml(template)) return { to, subject, text: plainText(content), html: renderText(template, escapedAll(values)) }
  const text = visible(renderText(template, values))
  return { to, subject, text, html: page(subject, `<pre style="${WRAPPED}">${escaped(text)}</pre>`) }
}

const DIGEST_LINES_MAX = 200

/** Builds one mail for many notifications. */
export function digestFor(to: string, all: readonly NotificationContent[]): Omit<MailMessage, 'id'> {
  const subject = `${all.length} notifications of monitors`
  const shown = all.slice(0, DIGEST_LINES_MAX)
  const lineOf = (content: NotificationContent): string => `${instant(content.occasion.atMs)}  ${titleOf(content)}`
  const more = all.length > shown.length ? [`and ${all.length - shown.length} more`] : []
  const text = [
    `${subject}:`,
    '',
    ...shown.map((content) => [lineOf(content), ...(content.link === undefined ? [] : [`    ${content.link}`])].join('\n')),
    ...more,
    '',
  ]
  const items = shown.map((content) => {
    const line = escaped(lineOf(content))
    return `<li>${content.link === undefined ? line : `<a href="${escaped(content.link)}">${line}</a>`}</li>`
  })
  const list = [...items, ...more.map((line) => `<li>${line}</li>`)].join('\n')
  return { to, subject, text: text.join('\n'), html: page(subject, `<h2>${subject}</h2>\n<ul>\n${list}\n</ul>`) }
}

const isHtml = (template: string): boolean => template.trimStart().startsWith('<')

function plainText(content: NotificationContent): string {
  const facts = factsOf(content).map(([name, value]) => `${name}: ${visible(value)}`)
  return [
    titleOf(content),
    visible(descriptionOf(content)),
    facts.join('\n'),
    ...(content.samples.length === 0 ? [] : [['Latest events:', ...content.samples.map((line) => `  ${visible(line)}`)].join('\n')]),
    ...(content.report === undefined ? [] : [`What changed:\n\n${visible(content.report)}`]),
    ...(content.link === undefined ? [] : [content.link]),
    `Alert ${content.occasion.alertId} · ${content.region}`,
    '',
  ].join('\n\n')
}

const WRAPPED = 'white-space:pre-wrap;overflow-wrap:anywhere'
const colors = { ALERT: '#b3261e', WARN: '#a05a00', NO_DATA: '#5f6368', OK: '#1e7a34' } as const

function html(content: NotificationContent): string {
  const rows = factsOf(content).map(
    ([name, value]) =>
      `<tr><th style="text-align:left;vertical-align:top;padding:2px 12px 2px 0">${escaped(name)}</th><td style="${WRAPPED}">${escaped(visible(value))}</td></tr>`,
  )
  const parts = [
    `<h2 style="color:${colors[content.occasion.after]}">${escaped(titleOf(content))}</h2>`,
    `<p style="${WRAPPED}">${escaped(visible(descriptionOf(content)))}</p>`,
    `<table>${rows.join('')}</table>`,
    ...(content.past ? [chartIn(content, content.past)] : []),
    ...(content.samples.length === 0 ? [] : [`<h3>Latest events</h3>${content.samples.map(codeOf).join('')}`]),
    ...(content.report === undefined ? [] : [`<h3>What changed</h3>${codeOf(content.report)}`]),
    ...(content.link === undefined ? [] : [`<p><a href="${escaped(content.link)}">Open the monitor</a></p>`]),
    `<p style="color:#666">Alert ${escaped(content.occasion.alertId)} · ${escaped(content.region)}</p>`,
  ]
  return page(titleOf(content), parts.join('\n'))
}

const CHART = 'chart'

/** The thresholds, drawn as lines in the chart. */
const boundsOf = ({ occasion: { monitor } }: NotificationContent): number[] =>
  monitor.warningThreshold === undefined ? [monitor.threshold] : [monitor.threshold, monitor.warningThreshold]

/** Embeds the chart and describes it in text. */
function chartIn(content: NotificationContent, { fromMs, toMs, values }: ValueHistory): string {
  const known = values.filter((value) => value !== null)
  const span = `from ${instant(fromMs)} to ${instant(toMs)}`
  const most = known.length === 0 ? '' : `, between ${number(Math.min(...known))} and ${number(Math.max(...known))}`
  const lines = `${boundsOf(content).length > 1 ? 'the dashed lines are at' : 'the dashed line is at'} ${boundsOf(content).map(number).join(' and ')}`
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
