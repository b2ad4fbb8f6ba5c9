import { branchesOf, type JsonSchema, type OpenApiParameter, propertiesOf, requiredOf, resolveShape, shapeName } from '@dendro/api'
import type { Schemas } from './examples.ts'
import { type Html, html, prose } from './html.ts'

/** A Direction decides which fields are marked: the required ones of a request, or the optional ones of a response. */
type Direction = 'request' | 'response'

/** fieldsOf renders the members of a schema: name, type, bounds, meaning. Named schemas are links, inline objects are expanded. */
export function fieldsOf(schema: JsonSchema, schemas: Schemas, direction: Direction): Html {
  const shape = resolveShape(schema, schemas)
  if (direction === 'response') return membersOf(schema, schemas, direction)
  return html`${typeof shape.description === 'string' && html`<p>${prose(shape.description)}</p>`}
${shape.additionalProperties === false && html`<p class="note">Closed: an unknown field is an error.</p>`}
${membersOf({ ...shape, description: undefined }, schemas, direction)}`
}

function membersOf(schema: JsonSchema, schemas: Schemas, direction: Direction): Html {
  const shape = resolveShape(schema, schemas)
  const properties = propertiesOf(shape)
  if (properties.length === 0) return html`<p class="whole">${typeOf(schema)}${meaning(shape)}</p>`
  const required = requiredOf(shape)
  const fields = properties.map(([name, property]) =>
    field({ name, schema: property, required: required.includes(name), direction }, schemas),
  )
  return html`<dl class="fields">${fields}</dl>`
}

/** parametersOf renders the parameters of the path or the query. */
export function parametersOf(parameters: readonly OpenApiParameter[], schemas: Schemas): Html {
  return html`<dl class="fields">${parameters.map((parameter) =>
    field(
      {
        name: parameter.name,
        schema: parameter.description ? { ...parameter.schema, description: parameter.description } : parameter.schema,
        required: parameter.required,
        direction: 'request',
        location: parameter.in,
      },
      schemas,
    ),
  )}</dl>`
}

type Field = { name: string; schema: JsonSchema; required: boolean; direction: Direction; location?: 'path' | 'query' }

function field({ name, schema, required, direction, location }: Field, schemas: Schemas): Html {
  const inner = innerObject(schema)
  const list = location === 'query' && schema.type === 'array' && html` <span class="note">repeat the name or separate by commas</span>`
  return html`<div${location ? html` data-in="${location}" data-name="${name}"` : undefined}>
<dt><code>${name}</code>${presence(required, direction)}</dt>
<dd>${typeOf(schema)}${list}${meaning(schema)}${inner && membersOf(inner, schemas, direction)}</dd></div>`
}

function presence(required: boolean, direction: Direction): Html | undefined {
  if (direction === 'request') return required ? html`<span class="required">required</span>` : undefined
  return required ? undefined : html`<span class="note">optional</span>`
}

/** innerObject is the inline object of a field: the field itself, or the items of a list or map. */
function innerObject(schema: JsonSchema): JsonSchema | undefined {
  if (schema.$ref !== undefined) return undefined
  if (propertiesOf(schema).length > 0) return schema
  const within = [schema.items, schema.additionalProperties, ...branchesOf(schema)]
  return within
    .filter(isSchema)
    .map(innerObject)
    .find((inner) => inner !== undefined)
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

function meaning(schema: JsonSchema): Html | undefined {
  const parts: Html[] = []
  if (typeof schema.description === 'string') parts.push(html`<span class="meaning">${prose(schema.description)}</span>`)
  if (schema.default !== undefined) parts.push(html`<span class="note">default <code>${JSON.stringify(schema.default)}</code></span>`)
  return parts.length === 0 ? undefined : html`${parts.map((part) => html` ${part}`)}`
}

/** typeOf renders the type of a schema with its bounds. */
export function typeOf(schema: JsonSchema): Html {
  const name = shapeName(schema)
  if (name !== undefined) return html`<a class="type" href="#schema-${name}">${name}</a>`
  if (schema.const !== undefined) return html`<code class="value">${JSON.stringify(schema.const)}</code>`
  if (Array.isArray(schema.enum)) {
    return html`<span class="values">${schema.enum.map((value) => html`<code class="value">${String(value)}</code> `)}</span>`
  }
  const branches = branchesOf(schema)
  if (branches.length > 0) {
    return html`${branches.map((branch, index) => html`${index > 0 && html`<span class="type"> or </span>`}${typeOf(branch)}`)}`
  }
  if (schema.type === 'array') {
    const bounds = boundsOf(schema.minItems, schema.maxItems)
    const items = schema.maxItems === 1 || (schema.minItems === 1 && schema.maxItems === undefined) ? 'item' : 'items'
    const size = bounds && html`<span class="bounds">(${bounds} ${items}) </span>`
    return html`<span class="type">array </span>${size}<span class="type">of </span>${isSchema(schema.items) ? typeOf(schema.items) : html`anything`}`
  }
  if (schema.type === 'object' && isSchema(schema.additionalProperties)) {
    return html`<span class="type">map of </span>${typeOf(schema.additionalProperties)}`
  }
  return html`<span class="type">${plainType(schema)}</span>${bounded(schema)}`
}

function plainType(schema: JsonSchema): string {
  if (schema.format === 'uuid') return 'uuid'
  if (typeof schema.format === 'string' && schema.type === 'string') return `string (${schema.format})`
  if (schema.type === 'object' && schema.additionalProperties === false) return 'closed object'
  if (schema.format === 'int64') return 'int64'
  return typeof schema.type === 'string' ? schema.type : Array.isArray(schema.type) ? schema.type.join(' or ') : 'any value'
}

function bounded(schema: JsonSchema): Html | undefined {
  const length = boundsOf(schema.minLength, schema.maxLength)
  const range = boundsOf(schema.minimum, schema.maximum)
  const bounds = length ? `${length} characters` : range
  return bounds === undefined ? undefined : html`<span class="bounds">, ${bounds}</span>`
}

function boundsOf(min: unknown, max: unknown): string | undefined {
  if (typeof min === 'number' && typeof max === 'number') return min === max ? String(min) : `${min} to ${max}`
  if (typeof min === 'number') return `at least ${min}`
  return typeof max === 'number' ? `at most ${max}` : undefined
}
