import type { IngestAction } from '@dendro/api'

type RuleDraft = { readonly where: string; readonly action: IngestAction }

const rule = (where: string, action: IngestAction): RuleDraft => ({ where, action })
const redact = (action: Partial<Extract<IngestAction, { type: 'REDACT' }>>): IngestAction => ({
  type: 'REDACT',
  kinds: [],
  expressions: [],
  replacement: '[REDACTED]',
  ...action,
})

/** Ten ingest rules as users have them: five that redact, five that leave out. */
export const ruleDrafts: readonly RuleDraft[] = [
  rule('', redact({ kinds: ['CARD_NUMBER'] })),
  rule('', redact({ kinds: ['EMAIL'] })),
  rule('', redact({ kinds: ['TOKEN', 'SECRET_KEY'] })),
  rule('', redact({ expressions: [{ pattern: 'password=[^ &"]+', ignore_case: true }] })),
  rule('', redact({ expressions: [{ pattern: 'ssn:? \\d{3}-\\d{2}-\\d{4}', ignore_case: false }] })),
  rule("level = 'debug'", { type: 'DROP' }),
  rule("'healthcheck'", { type: 'DROP' }),
  rule("path = '/metrics' AND status = 200", { type: 'DROP' }),
  rule("service = 'noisy'", { type: 'SAMPLE', keep: 0.1, key: 'trace_id' }),
  rule("level = 'trace' OR logger LIKE 'org.noise.%'", { type: 'SAMPLE', keep: 0.5 }),
]
