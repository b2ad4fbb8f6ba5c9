import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter } from './list-pages.ts'
import type { Permission } from './permissions.ts'
import { anyValue, mapOf, text, uuid } from './values.ts'

/** Templates (API reference 1.10): texts with `{{name}}` in place of arguments. */

const PARAMETERS_MAX = 50
const LITERAL_CHARS_MAX = 16_384
const LITERAL_ITEMS_MAX = 1_000
const OBJECT_MEMBERS_MAX = 100

const LiteralObject = mapOf(anyValue(LITERAL_CHARS_MAX), OBJECT_MEMBERS_MAX).meta({
  id: 'TemplateLiteralObject',
  description: 'An item of a list of objects, with members of any form.',
})
const Item = z.union([text(0, LITERAL_CHARS_MAX), LiteralObject])

const literalForms = [text(0, LITERAL_CHARS_MAX), z.array(Item).max(LITERAL_ITEMS_MAX)] as const
const Literal = z.strictObject({ literal: z.union(literalForms) })
const Input = z.strictObject({ input: text(1, 255).describe('A parameter of the enclosing template.') }).meta({ id: 'TemplateBinding' })

/** A literal as callers write it: numbers and truth values are stored as their text. */
const givenLiteral = z.union([...literalForms, z.number(), z.boolean(), z.bigint()])
const GivenLiteral = z.strictObject({ literal: givenLiteral }).meta({ id: 'GivenTemplateLiteral' })
const Nested = z.strictObject({ value: givenLiteral }).meta({ id: 'NestedTemplateLiteral' })

/** Samples of the specification write arguments in more than one way; all are accepted, and the plain form is stored and returned. */
const givenForms = z.union([
  GivenLiteral,
  Input,
  z
    .strictObject({ value: z.union([GivenLiteral, Input, Nested, givenLiteral]) })
    .describe('A binding, or the literal itself, within `value`.'),
])

const ONE_BINDING = 'must be an object with exactly one of literal and input'

const argument = z
  .preprocess((given, context) => {
    if (hasOneMember(given)) return given
    context.addIssue({ code: 'custom', message: ONE_BINDING, input: given })
    return z.NEVER
  }, givenForms)
  .transform((given, context) => {
    // An unknown member alone does not stop a pipe, and the union after it would forget it.
    if (context.issues.length === 0) return plainly(given)
    context.addIssue({ code: 'custom', message: ONE_BINDING, input: given })
    return z.NEVER
  })
  .pipe(z.union([Literal, Input]))
  .meta({ id: 'TemplateArgument', description: 'Exactly one of `literal` and `input`.' })
/** The input type of a preprocess is unknown; callers need the forms. */
export const TemplateArgument = argument as unknown as z.ZodType<z.output<typeof argument>, z.input<typeof givenForms>>
export type TemplateArgument = z.output<typeof TemplateArgument>

export const TemplateArguments = mapOf(TemplateArgument, PARAMETERS_MAX)
export type TemplateArguments = z.output<typeof TemplateArguments>

export const Template = z
  .object({ id: uuid, arguments: TemplateArguments.optional() })
  .meta({ id: 'Template', description: 'The template that a record is created from, with its arguments.' })
export type Template = z.output<typeof Template>

const parameterTypes = ['STRING', 'STRING_LIST', 'DOUBLE', 'BOOLEAN', 'OBJECT_LIST'] as const

const TemplateParameter = z
  .strictObject({ type: z.enum(parameterTypes), description: text(0, 1_024).optional() })
  .meta({ id: 'TemplateParameter' })
export type TemplateParameter = z.output<typeof TemplateParameter>

export const TemplateParameters = mapOf(TemplateParameter, PARAMETERS_MAX).meta({
  id: 'TemplateParameters',
  description: 'A parameter of the template; its texts use `{{name}}`.',
})
export type TemplateParameters = z.output<typeof TemplateParameters>

export const TemplateReference = z.object({ id: uuid, arguments: TemplateArguments.optional() }).meta({
  id: 'TemplateReference',
  description: 'A template within another one; an argument `input` takes the value of a parameter of the outer one.',
})
export type TemplateReference = z.output<typeof TemplateReference>

const BINDINGS: readonly string[] = ['literal', 'input', 'value']

/** Whether a value is an object with one binding. Members that are null count as absent. */
function hasOneMember(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false
  const names = Object.entries(given).flatMap(([name, value]) => (value === null || value === undefined ? [] : [name]))
  return names.length === 1 && names.every((name) => BINDINGS.includes(name))
}

type GivenLiteral = z.output<typeof givenLiteral>
type Binding = { literal: GivenLiteral } | { input: string }

/** Unwraps the nested forms of an argument: `value` may contain a binding, another `value`, or the literal itself. */
function plainly(given: z.output<typeof givenForms>): z.output<typeof Literal> | z.output<typeof Input> {
  if (!('value' in given)) return withText(given)
  const { value } = given
  if (typeof value !== 'object' || Array.isArray(value)) return withText({ literal: value })
  return withText('value' in value ? { literal: value.value } : value)
}

/** Stores numbers and truth values as their text. */
function withText(binding: Binding): z.output<typeof Literal> | z.output<typeof Input> {
  if ('input' in binding) return binding
  const { literal } = binding
  return { literal: typeof literal === 'string' || Array.isArray(literal) ? literal : String(literal) }
}

/** Declares the endpoints of one kind of template: request, response and permissions. */
export const templateLibrary = <
  const Noun extends string,
  Draft extends z.ZodType,
  Change extends z.ZodType,
  Shown extends z.ZodObject,
  const Permissions extends readonly [Permission, Permission, Permission],
>(
  noun: Noun,
  { of, draft, change, shown, permissions }: { of: string; draft: Draft; change: Change; shown: Shown; permissions: Permissions },
) => {
  const all = `/${noun}/templates` as const
  const one = `/${noun}/templates/{templateId}` as const
  return {
    list: endpoint({
      method: 'GET',
      path: all,
      permission: permissions[0],
      tier: 'X',
      summary: `List the templates of ${of}, newest first`,
      query: z.object({
        ...pageParameters,
        search: pageParameters.search.describe('Only templates whose names and descriptions contain each of these words.'),
        sort: sortParameter([]),
      }),
      reply: z.object({ templates: z.array(shown), next_cursor: nextCursor }),
    }),
    create: endpoint({
      method: 'POST',
      path: all,
      permission: permissions[1],
      tier: 'X',
      summary: `Keep a template of ${of}`,
      body: draft,
      status: 201,
      reply: shown,
    }),
    get: endpoint({
      method: 'GET',
      path: one,
      permission: permissions[0],
      tier: 'X',
      summary: `One template of ${of}`,
      reply: shown,
      fails: [404],
    }),
    update: endpoint({
      method: 'PUT',
      path: one,
      permission: permissions[1],
      tier: 'X',
      summary: `Replace a template of ${of}; records created from it do not change`,
      body: change,
      reply: shown,
      fails: [404],
    }),
    remove: endpoint({
      method: 'DELETE',
      path: one,
      permission: permissions[2],
      tier: 'X',
      summary: `Delete a template of ${of}; records created from it stay`,
      fails: [404],
    }),
  }
}
