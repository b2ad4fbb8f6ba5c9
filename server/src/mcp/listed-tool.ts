import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { AgentTool } from './tool.ts'

const known = new WeakMap<AgentTool, Tool>()

/** A tool as the protocol lists it. */
export function listedTool(tool: AgentTool): Tool {
  const found = known.get(tool)
  if (found) return found
  const { $schema: _, ...inputSchema } = z.toJSONSchema(tool.input, { io: 'input', unrepresentable: 'any', override: shorten })
  const { $schema: __, ...answer } = z.toJSONSchema(tool.output, { io: 'output', override: shortenOutput })
  const { name, title, description, isReadOnly } = tool
  const listed: Tool = {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: 'object' } as Tool['inputSchema'],
    outputSchema: outputSchemaOf(answer),
    annotations: { readOnlyHint: isReadOnly, destructiveHint: false, openWorldHint: false },
  }
  known.set(tool, listed)
  return listed
}

/** The error of every tool; docs/agents.md describes it. */
const ERROR = { type: 'object', required: ['code', 'details'] }

/** An answer, or an error: clients check both by this schema. */
const outputSchemaOf = ({ properties, required = [] }: z.core.JSONSchema.BaseSchema): Tool['outputSchema'] =>
  ({
    type: 'object',
    properties: { ...properties, error: ERROR },
    anyOf: [{ required }, { required: ['error'] }],
  }) as Tool['outputSchema']

/** What only validation needs. A violation is reported with its rule, and an agent reads the list at the start of every conversation. */
const OMITTED = ['minLength', 'maxLength', 'pattern', 'minItems', 'propertyNames', 'maxProperties', 'examples'] as const

/** Answers may get further members. */
function shortenOutput(context: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { jsonSchema } = context
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  delete jsonSchema.minimum
  delete jsonSchema.description
  shorten(context)
}

function shorten({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  for (const keyword of OMITTED) delete jsonSchema[keyword]
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === 0) delete jsonSchema.minimum
  if (typeof jsonSchema.maxItems === 'number' && jsonSchema.maxItems > 1) delete jsonSchema.maxItems
}
