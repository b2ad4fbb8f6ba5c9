import { shorten } from '../../../kernel/shorten.ts'
import { descriptionOf, factsOf, type NotificationContent, titleOf, visible } from './message-text.ts'

const colors = { ALERT: '#b3261e', WARN: '#f2a600', NO_DATA: '#9aa0a6', OK: '#2eb67d' } as const
const TEXT_CHARS_MAX = 3_000
const FACT_CHARS_MAX = 500
/** Facts that the title or the description already contains. */
const elsewhere = new Set(['Monitor', 'Status', 'Query'])

/**
 * Builds the message for a channel in the common format of incoming webhooks. Text from events is escaped, so it can neither mention people
 * nor add links.
 */
export function chatFor(channel: string, content: NotificationContent): string {
  const { occasion, samples, report, link } = content
  const title = escaped(titleOf(content))
  const code = (text: string): string => `\`\`\`${shorten(escaped(visible(text)), TEXT_CHARS_MAX)}\`\`\``
  const texts = [
    shorten(escaped(visible(descriptionOf(content))), TEXT_CHARS_MAX),
    ...(samples.length === 0 ? [] : [code(samples.join('\n'))]),
    ...(report === undefined ? [] : [`*What changed*\n${code(report)}`]),
  ]
  return JSON.stringify({
    channel,
    text: title,
    attachments: [
      {
        color: colors[occasion.after],
        fallback: title,
        title,
        ...(link === undefined ? {} : { title_link: link }),
        text: texts.join('\n'),
        fields: factsOf(content)
          .filter(([name]) => !elsewhere.has(name))
          .map(([name, value]) => ({ title: name, value: shorten(escaped(visible(value)), FACT_CHARS_MAX), short: value.length < 40 })),
        footer: `Alert ${occasion.alertId}`,
        ts: Math.floor(occasion.atMs / 1_000),
        mrkdwn_in: ['text'],
      },
    ],
  })
}

/** Escapes the characters that start mentions, links and code blocks. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('```', "'''")
