import { MASK } from './expressions.ts'

/** Statements and conditions in the transformation language of OpenTelemetry, which two agents read; in the context of a log record. */

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

export const matching = (expression: string): string => `IsMatch(body, ${quoted(expression)})`

export const redacting = (expression: string): string[] => [
  `replace_pattern(body, ${quoted(expression)}, ${quoted(MASK)})`,
  `replace_all_patterns(attributes, "value", ${quoted(expression)}, ${quoted(MASK)})`,
]

export const parsing = (form: 'json' | 'logfmt'): string =>
  form === 'json'
    ? `merge_maps(attributes, ParseJSON(body), "upsert") where ${matching('^\\s*[{]')}`
    : `merge_maps(attributes, ParseKeyValue(body), "upsert") where ${matching('^[A-Za-z_][A-Za-z0-9_.-]*=')}`

const SAMPLE_VALUES = 65_536

/** A condition that drops events: the first four hex digits of a random identifier are uniform over 65536 values. */
export const sampling = (percent: number): string =>
  `Substring(UUID(), 0, 4) >= "${Math.round((percent / 100) * SAMPLE_VALUES)
    .toString(16)
    .padStart(4, '0')}"`
