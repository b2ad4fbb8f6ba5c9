import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { timezone } from './users.ts'

const WORDS_MAX = 15

/** The notations of times in text lines that a dataset can be set to. */
export const lineTimeFormats = [
  'YYYY-MM-DD hh:mm:ss',
  'YYYYMMDD hh:mm:ss',
  'YYMMDD hh:mm:ss',
  'Www Mon DD hh:mm:ss YYYY',
  'DD Mon YYYY hh:mm:ss',
  'Mon DD YYYY hh:mm:ss',
  'Mon DD hh:mm:ss',
  'YY/MM/DD hh:mm:ss',
  'DD/MM/YY hh:mm:ss',
  'MM/DD/YY hh:mm:ss',
  'DD/MM/YYYY hh:mm:ss',
  'MM/DD/YYYY hh:mm:ss',
  'MM-DD hh:mm:ss',
  'DD-MM hh:mm:ss',
  'MMDD hh:mm:ss',
  'epoch',
] as const
export type LineTimeFormat = (typeof lineTimeFormats)[number]

const format = z
  .enum(lineTimeFormats)
  .describe(
    'The order of date and time. Separators, fractions of a second, AM and PM, and a zone after the time are recognized. `epoch` counts seconds, milliseconds, microseconds or nanoseconds by size.',
  )
const word = z.int().min(0).max(WORDS_MAX).describe('The number of words before the time, separated by blanks.')

export const LineTime = z
  .object({
    format,
    word: word.default(0),
    timezone: timezone.default('UTC').describe('The time zone of times that name none; a name of the IANA time zone database.'),
  })
  .meta({ id: 'LineTime', description: 'Where the lines of a dataset tell their time, and in which notation.' })
export type LineTime = z.output<typeof LineTime>

const LineTimeCandidate = z
  .object({
    format,
    word,
    matched: z.int().describe('The number of lines that tell an acceptable time in this notation.'),
    unchanged: z.int().describe('The number of these lines that are already stored with this time.'),
    is_ambiguous: z.boolean().describe('True when another candidate reads the same digits as another date, such as 17/06/09.'),
    has_year: z.boolean().describe('False when the year is chosen: the latest one with a time at most a day after arrival.'),
    has_timezone: z.boolean().describe('True when every matching line names its zone, so that the setting has no effect.'),
    samples: z.array(
      z.object({
        line: z.string().describe('The beginning of the line, or of the message of a JSON line.'),
        start: z.int().describe('The position of the time in it.'),
        end: z.int(),
        time: z.int().describe('The time that the line would get.'),
        stored_time: z.int().describe('The time that the event has.'),
      }),
    ),
  })
  .meta({ id: 'LineTimeCandidate' })
export type LineTimeCandidate = z.output<typeof LineTimeCandidate>

export const lineTimes = {
  get: endpoint({
    method: 'GET',
    path: '/datasets/{datasetId}/line-time',
    permission: 'parsers_read',
    tier: 'D',
    summary: 'Get where the lines of a dataset tell their time',
    reply: z.object({ line_time: LineTime.nullable().describe('Null without a setting: only known formats are read.') }),
    fails: [404],
  }),
  set: endpoint({
    method: 'PUT',
    path: '/datasets/{datasetId}/line-time',
    permission: 'parsers_write',
    tier: 'D',
    summary: 'Set where the lines of a dataset tell their time, for events received from then on',
    description:
      'The setting applies to text lines and to the message of JSON lines, and takes precedence over every other time of the event. A line without such a time gets its time as without the setting. A time more than 24 hours ahead or before 2000 is not used; `$ingest.original_time` keeps it.',
    body: LineTime,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/datasets/{datasetId}/line-time',
    permission: 'parsers_write',
    tier: 'D',
    summary: 'Remove the setting; stored events keep their time',
    fails: [404],
  }),
  preview: endpoint({
    method: 'GET',
    path: '/datasets/{datasetId}/line-time/preview',
    permission: 'search_read',
    tier: 'D',
    summary: 'Find the times in recent lines of a dataset, and show what the time of each line would be',
    query: z.object({ timezone: timezone.default('UTC').describe('The time zone of times that name none.') }),
    reply: z.object({
      lines: z.int().describe('The number of recent lines that were read, at most 200.'),
      candidates: z.array(LineTimeCandidate).describe('The best first; none when the lines tell no time.'),
    }),
    fails: [404, 503],
  }),
}
