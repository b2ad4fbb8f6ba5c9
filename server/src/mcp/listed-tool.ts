import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { AgentTool } from './tool.ts'

const known = new WeakMap<AgentTool, Tool>()

/** A tool as the protocol lists it. */
export function listedTool(tool: AgentTool): Tool {
  const found = known.get(tool)
  if (found) return found
  const { $schema: _, ...inputSchema } = z.toJSONSchema(tool.input, { io: 'input', unrepresentable: 'any', override: shorten })
  const { name, title, description, isReadOnly } = tool
  const listed: Tool = {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: 'object' } as Tool['inputSchema'],
    annotations: { title, readOnlyHint: isReadOnly, destructiveHint: false, idempotentHint: isReadOnly, openWorldHint: false },
  }
  known.set(tool, listed)
  return listed
}

/** Drops what only validation needs: an agent reads the list at the start of every conversation. */
function shorten({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format !== undefined || jsonSchema.pattern === '^[^\\0]*$') delete jsonSchema.pattern
  if (jsonSchema.type === 'string' && jsonSchema.minLength === undefined) delete jsonSchema.maxLength
  if (jsonSchema.type === 'array' && typeof jsonSchema.maxItems === 'number' && jsonSchema.maxItems >= 500) delete jsonSchema.maxItems
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}
