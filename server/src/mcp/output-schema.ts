import { z } from 'zod'

/** The members of an answer that a tool declares: values of the service itself, and those that may contain text of senders or users. */
export type ToolOutput = { readonly facts?: z.ZodRawShape; readonly data?: z.ZodRawShape }

const count = z.int()

/** A value of an aggregate; null where no event has one. */
export const Value = z.number().nullable()
export const Cost = z.strictObject({ bytes_searched: count, ms: z.number() })
/** Times are ISO 8601 texts. */
export const Span = z.strictObject({ from: z.string(), to: z.string() })
export const rangeOutput = { range: z.strictObject({ ...Span.shape, from_ts: z.int(), to_ts: z.int() }) }
export const warningsOutput = {
  warnings: z.array(z.strictObject({ field: z.string(), message: z.string(), hint: z.string().optional() })).optional(),
}
/** Values by the field that the events are grouped by. */
export const Group = z.record(z.string(), z.string())
export const Row = z.strictObject({
  time: z.string(),
  status: z.string(),
  dataset: z.string(),
  event: z.string(),
  text: z.string().optional(),
  fields: z.record(z.string(), z.string()).optional(),
  fields_left_out: count.optional(),
  is_the_event: z.literal(true).optional(),
})

const Notes = z.array(z.string()).optional()

/** The answer of a tool that has not failed. */
export const answerSchema = ({ facts, data }: ToolOutput): z.ZodObject =>
  z.strictObject({
    summary: z.string(),
    link: z.string().optional(),
    ...facts,
    notes: Notes,
    ...(data ? { untrusted_data: z.strictObject({ notice: z.string(), ...data }) } : {}),
  })

export type CreationOutput = { readonly preview: ToolOutput; readonly made: z.ZodRawShape }

/** The answer of a tool that creates something: a preview, or the record. */
export const creationSchema = ({ preview, made }: CreationOutput): z.ZodObject =>
  z.strictObject({
    summary: z.string(),
    link: z.string().optional(),
    ...z.object({ ...preview.facts, confirm: z.string(), ...made }).partial().shape,
    notes: Notes,
    ...(preview.data ? { untrusted_data: z.strictObject({ notice: z.string(), ...preview.data }).optional() } : {}),
  })

/** The answer of every tool that failed. */
export const FailureAnswer = z.strictObject({
  error: z.strictObject({
    code: z.int(),
    type: z.string(),
    details: z.string(),
    errors: z.array(z.looseObject({ field: z.string() })).optional(),
    retry_after_s: z.number().optional(),
    correlation_id: z.string(),
  }),
})
