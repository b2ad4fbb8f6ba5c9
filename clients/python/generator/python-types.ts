import type { JsonSchema } from '../../../api/src/shapes.ts'

const KEYWORDS =
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'
const keywords: ReadonlySet<string> = new Set(KEYWORDS.split(' '))
const isName = (text: string): boolean => /^[A-Za-z]\w*$/.test(text) && !keywords.has(text)

/** A parameter of a method; the wire has the name without an underscore at its end. */
export const argumentName = (name: string): string => (keywords.has(name) || name === 'self' ? `${name}_` : name)

/** `createWebhook` is `create_webhook`. */
export const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (initial) => `_${initial.toLowerCase()}`)

export const pascalCase = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+|_/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('')

/** Text for a docstring: no quotes and backslashes that would end or change it, and no long lines. */
export function docstring(text: string | undefined, indent: string): string {
  if (text === undefined || text.trim() === '') return ''
  const lines = wrap(text.replaceAll('\\', '\\\\').replaceAll('"""', "'''"), 120 - indent.length)
  return lines.length === 1 && !lines[0]?.endsWith('"')
    ? `${indent}"""${lines[0]}"""\n`
    : `${indent}"""\n${lines.map((line) => (line === '' ? '\n' : `${indent}${line}\n`)).join('')}${indent}"""\n`
}

function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines = ['']
    for (const word of paragraph.trim().split(/\s+/)) {
      const last = lines.at(-1) ?? ''
      if (last !== '' && last.length + 1 + word.length > width) lines.push(word)
      else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
    }
    return lines
  })
}

/** Writes schemas as Python types. Objects become typed dictionaries, each declared once under a name of its own. */
export class PythonTypes {
  readonly #declarations = new Map<string, string>()
  readonly #reserved: ReadonlySet<string>

  /** Reserved names belong to schemas that are declared by name. */
  constructor(reserved: Iterable<string>) {
    this.#reserved = new Set(reserved)
  }

  /** Declares a schema under a name, also if it is no object. */
  declare(name: string, schema: JsonSchema): void {
    if (isRecord(schema)) this.#declareRecord(name, schema)
    else this.#declarations.set(name, `${name} = ${this.#quoted(this.typeOf(schema, name))}\n`)
  }

  /** The type of a schema; an object without a name is declared as `name`. */
  typeOf(schema: JsonSchema, name: string): string {
    if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) ?? 'Any'
    if ('const' in schema) return literal([schema.const])
    if (Array.isArray(schema.enum)) return literal(schema.enum)
    const variants = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
    if (variants) return union(variants.map((one, index) => this.typeOf(one, `${name}${index === 0 ? '' : index + 1}`)))
    if (Array.isArray(schema.type)) return union(schema.type.map((type) => this.typeOf({ ...schema, type }, name)))
    switch (schema.type) {
      case 'string':
        return 'str'
      case 'integer':
        return 'int'
      case 'number':
        return 'float'
      case 'boolean':
        return 'bool'
      case 'null':
        return 'None'
      case 'array':
        return `List[${schema.items ? this.typeOf(schema.items as JsonSchema, `${name}Item`) : 'Any'}]`
      case 'object':
        return this.#objectType(schema, name)
      default:
        return 'Any'
    }
  }

  all(): string[] {
    return [...this.#declarations.values()]
  }

  #objectType(schema: JsonSchema, name: string): string {
    if (isRecord(schema)) {
      const free = this.#freeName(name)
      this.#declareRecord(free, schema)
      return free
    }
    const values = schema.additionalProperties
    return `Dict[str, ${typeof values === 'object' && values !== null ? this.typeOf(values as JsonSchema, `${name}Value`) : 'Any'}]`
  }

  #freeName(name: string): string {
    let free = name
    for (let number = 2; this.#reserved.has(free) || this.#declarations.has(free); number += 1) free = `${name}${number}`
    return free
  }

  #declareRecord(name: string, schema: JsonSchema): void {
    if (this.#declarations.has(name)) throw new Error(`two schemas are called ${name}`)
    // It holds the place, so that members of members do not come first.
    this.#declarations.set(name, '')
    const required = (schema.required ?? []) as string[]
    const members = Object.entries(schema.properties as Record<string, JsonSchema>).map(([key, value]) => {
      const type = this.typeOf(value, `${name}${pascalCase(key)}`)
      return { key, type: required.includes(key) ? type : `NotRequired[${type}]`, description: value.description as string | undefined }
    })
    const description = schema.description as string | undefined
    this.#declarations.set(
      name,
      members.every(({ key }) => isName(key))
        ? `class ${name}(TypedDict):\n${docstring(description, '    ')}${members
            .map(({ key, type, description: text }) => `    ${key}: ${type}\n${docstring(text, '    ')}`)
            .join('')}`
        : `${name} = TypedDict(\n    "${name}",\n    {\n${members
            .map(({ key, type }) => `        ${JSON.stringify(key)}: ${JSON.stringify(type)},\n`)
            .join('')}    },\n)\n${docstring(description, '')}`,
    )
  }

  /** A name may be declared later, so that aliases quote their types. */
  #quoted(type: string): string {
    return /^Literal\[/.test(type) ? type : type.replaceAll(/\b[A-Z]\w*\b/g, (word) => (this.#isOwn(word) ? `"${word}"` : word))
  }

  #isOwn(word: string): boolean {
    return !['Any', 'Dict', 'List', 'Literal', 'None', 'Optional', 'Union'].includes(word)
  }
}

const isRecord = (schema: JsonSchema): boolean => schema.type === 'object' && Object.keys((schema.properties ?? {}) as object).length > 0

const literal = (values: readonly unknown[]): string =>
  union([
    ...(values.some((value) => value !== null)
      ? [
          `Literal[${values
            .filter((value) => value !== null)
            .map((value) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)))
            .join(', ')}]`,
        ]
      : []),
    ...(values.includes(null) ? ['None'] : []),
  ])

function union(types: readonly string[]): string {
  const different = [...new Set(types)]
  if (different.includes('Any')) return 'Any'
  const [only] = different
  return different.length === 1 && only !== undefined ? only : `Union[${different.join(', ')}]`
}
