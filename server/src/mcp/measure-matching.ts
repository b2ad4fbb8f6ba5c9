import { contract } from '@dendro/api'
import { groupKeys } from './field-keys.ts'
import { rangeOfCall, sourcesOf } from './sources.ts'
import type { ToolContext } from './tool.ts'

/** The arguments that select events. */
export type QueryGiven = {
  from?: string[] | undefined
  from_expr?: string | undefined
  where?: string | undefined
  time_range?: string | undefined
  from_ts?: number | undefined
  to_ts?: number | undefined
}

type MeasureGiven = QueryGiven & { measure: string; groups?: string[] | undefined; limit?: number | undefined }

/** Computes one aggregate over the events that a call selects, in slices of its range. */
export async function measureMatching(args: MeasureGiven, slices: number, context: ToolContext) {
  const sources = await sourcesOf(context, args)
  const bounds = rangeOfCall(context, args)
  const found = await context.call(contract.search.run, {
    body: {
      ...sources.selection,
      where: args.where,
      from_ts: bounds.fromMs,
      to_ts: bounds.toMs,
      select: [args.measure],
      ...(args.groups?.length ? { groups: groupKeys(args.groups) } : {}),
      num_of_slices: slices,
      ...(args.limit === undefined ? {} : { limit: args.limit }),
    },
  })
  return { sources, bounds, found }
}
