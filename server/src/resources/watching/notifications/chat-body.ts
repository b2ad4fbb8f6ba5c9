import { descriptionOf, factsOf, type Told, titleOf, visible } from './words.ts'

const colours = { ALERT: '#b3261e', WARN: '#f2a600', NO_DATA: '#9aa0a6', OK: '#2eb67d' } as const
const TEXT_CHARS_MAX = 3_000
const FACT_CHARS_MAX = 500
/** Facts that are in the title and the sentence already. */
const elsewhere = new Set(['Monitor', 'Status', 'Query'])

/** chatFor is the message for a channel, as chat services with incoming webhooks take it. Nothing in it calls people or makes links but ours. */
export function chatFor(channel: string, told: Told): string {
  const { occasion, samples, report, link } = told
  const title = escaped(titleOf(told))
  const code = (text: string): string => `\`\`\`${cut(escaped(visible(text)))}\`\`\``
  const texts = [
    cut(escaped(visible(descriptionOf(told)))),
    ...(samples.length === 0 ? [] : [code(samples.join('\n'))]),
    ...(report === undefined ? [] : [`*What changed*\n${code(report)}`]),
  ]
  return JSON.stringify({
    channel,
    text: title,
    attachments: [
      {
        color: colours[occasion.after],
        fallback: title,
        title,
        ...(link === undefined ? {} : { title_link: link }),
        text: texts.join('\n'),
        fields: factsOf(told)
          .filter(([name]) => !elsewhere.has(name))
          .map(([name, value]) => ({ title: name, value: escaped(visible(value)).slice(0, FACT_CHARS_MAX), short: value.length < 40 })),
        footer: `Alert ${occasion.alertId}`,
        ts: Math.floor(occasion.atMs / 1_000),
        mrkdwn_in: ['text'],
      },
    ],
  })
}

const cut = (text: string): string => (text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX - 1)}…`)

/** escaped takes the signs that give text a meaning in a message: mentions and links begin with one, code is between three others. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('```', "'''")
