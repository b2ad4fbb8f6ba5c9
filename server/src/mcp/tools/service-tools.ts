import { contract } from '@dendro/api'
import { z } from 'zod'
import { appLink } from '../app-links.ts'
import { counted } from '../counted.ts'
import { msOf, short } from '../durations.ts'
import { rangeOutput } from '../output-schema.ts'
import { rangeArguments, rangeFacts, rangeOfCall } from '../sources.ts'
import { type AgentTool, readingTool } from '../tool.ts'

const NAME_CHARS = 120
const LIMIT_MAX = 200

const { service, order } = contract.traces.operations.query.shape
const count = z.int()
const ms = z.number()
const timing = { per_second: z.number(), failed: count, p50_ms: ms.optional(), p95_ms: ms.optional() }

const services = readingTool({
  name: 'services',
  title: 'Services',
  description:
    'Lists what services do, from their spans: the operations with rate, failures and percentiles of durations, and which services call which. A service that is slow only because of another shows in `calls`. Fewer rows with `service`.',
  permissions: ['search_read'],
  input: z.strictObject({
    service,
    order,
    ...rangeArguments,
    limit: z.int().min(1).max(LIMIT_MAX).default(30).describe('Operations, and pairs of services.'),
  }),
  output: {
    facts: { ...rangeOutput, operations_total: count, calls_total: count, calls_are_estimates: z.boolean() },
    data: {
      operations: z.array(z.strictObject({ service: z.string(), operation: z.string(), spans: count, p99_ms: ms.optional(), ...timing })),
      calls: z.array(z.strictObject({ from: z.string(), to: z.string(), kind: z.string(), calls: count, ...timing })),
    },
  },
  run: async ({ time_range, from_ts, to_ts, limit, ...conditions }, context) => {
    const bounds = rangeOfCall(context, { time_range, from_ts, to_ts })
    const range = { from_ts: bounds.fromMs, to_ts: bounds.toMs, limit }
    const ofService = conditions.service ? { service: conditions.service } : {}
    const operations = await context.call(contract.traces.operations, { query: { ...conditions, ...range } })
    const calls = await context.call(contract.traces.calls, { query: { ...ofService, ...range } })
    const { cuts } = context
    return {
      summary: `${counted(operations.operations_total, 'operation')} and ${counted(calls.calls_total, 'pair')} of services in the range.`,
      link: appLink(context, 'traces', { map: true, service: conditions.service, f: bounds.fromMs, t: bounds.toMs }),
      facts: {
        ...rangeFacts(bounds),
        operations_total: operations.operations_total,
        calls_total: calls.calls_total,
        calls_are_estimates: !calls.is_exact,
      },
      data: {
        operations: cuts.rows(
          operations.operations.map((one) => ({
            service: cuts.text(one.service, NAME_CHARS),
            operation: cuts.text(one.operation, NAME_CHARS),
            spans: one.spans,
            per_second: short(one.per_second),
            failed: one.errors,
            ...(one.p50_nano === undefined ? {} : { p50_ms: msOf(one.p50_nano) }),
            ...(one.p95_nano === undefined ? {} : { p95_ms: msOf(one.p95_nano) }),
            ...(one.p99_nano === undefined ? {} : { p99_ms: msOf(one.p99_nano) }),
          })),
          limit,
          'raise limit, or name a service',
        ),
        calls: cuts.rows(
          calls.calls.map((one) => ({
            from: cuts.text(one.from, NAME_CHARS),
            to: cuts.text(one.to, NAME_CHARS),
            kind: one.kind,
            calls: one.calls,
            per_second: short(one.per_second),
            failed: one.errors,
            p50_ms: msOf(one.p50_nano),
            p95_ms: msOf(one.p95_nano),
          })),
          limit,
          'raise limit, or name a service',
        ),
      },
    }
  },
})

export const serviceTools: readonly AgentTool[] = [services]
