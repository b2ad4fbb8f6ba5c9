import type { CompiledParser, ParserResult } from './compiled.ts'
import { grokNames } from './grok-names.ts'
import { RegexMatcher } from './regex-match.ts'
import { compileTree } from './regex-program.ts'
import { badPattern, fieldName, parseRegex, type ReferenceResolver, type RegexFlags, type RegexTree } from './regex-syntax.ts'

const REFERENCE = /^([A-Za-z_]\w*)(?::([^:{}]{1,256}))?(?::(\w+))?$/
const NAMES_AT_ONCE = 5

/** Compiles a GROK pattern, such as `%{IP:client} %{GREEDYDATA:text}`. */
export function compileGrok(pattern: string): CompiledParser {
  const program = compileTree(treeOf(pattern))
  if (program.fields.length === 0) throw badPattern('names no field: write %{NAME:field}', 0, pattern.length, 'NO_FIELDS')
  const matcher = new RegexMatcher(program)
  return {
    fields: [...new Set(program.fields)],
    read: (text, fuel): ParserResult => {
      const caught = matcher.match(text, fuel)
      if (caught.kind !== 'match') return { kind: caught.kind === 'none' ? 'no match' : 'given up' }
      return { kind: 'match', pairs: pairsOf(program.fields, caught.places, text) }
    },
  }
}

/** Leaves out empty captures. Of several fields with one name, the first with a capture counts. */
function pairsOf(fields: readonly string[], places: Int32Array, text: string): [string, string][] {
  const pairs = new Map<string, string>()
  for (const [index, name] of fields.entries()) {
    const [start = -1, end = -1] = [places[2 * index], places[2 * index + 1]]
    if (start >= 0 && end > start && !pairs.has(name)) pairs.set(name, text.slice(start, end))
  }
  return [...pairs]
}

/** Parses a pattern. Each standard name is parsed once for each combination of flags. */
function treeOf(pattern: string): RegexTree {
  const known = new Map<string, RegexTree>()
  const named = (name: string, flags: RegexFlags): RegexTree => {
    const key = `${name} ${flags.isCaseless} ${flags.dotTakesAll}`
    const tree = known.get(key) ?? parseRegex(grokNames.get(name) ?? '', reference, flags)
    known.set(key, tree)
    return tree
  }
  const reference: ReferenceResolver = ({ text, position, flags }) => {
    const [, name = '', field] = REFERENCE.exec(text) ?? []
    if (name === '') throw badPattern(`cannot be read at %{${text}}: write %{NAME} or %{NAME:field}`, position, text.length + 3)
    if (!grokNames.has(name)) {
      throw badPattern(`has the unknown name ${name}${suggestion(name)}`, position, text.length + 3, 'UNKNOWN_NAME')
    }
    const item = named(name, flags)
    return field === undefined ? item : { kind: 'field', item, name: fieldName(field.trim()) }
  }
  return parseRegex(pattern, reference)
}

/** Suggests similar names. */
function suggestion(name: string): string {
  const upper = name.toUpperCase()
  const close = [...grokNames.keys()].filter((known) => known.includes(upper) || upper.includes(known))
  return close.length === 0 ? '' : `; did you mean ${close.slice(0, NAMES_AT_ONCE).join(', ')}`
}
