import { isAlias, isMap, isNode, LineCounter, type Node, parseAllDocuments, stringify, type YAMLMap } from 'yaml'
import { type ConfigFields, isFields, type Path } from './kind.ts'

/** A document as it stands in a file. */
export type WrittenDocument = { file: string; fields: ConfigFields; line: number; lineOf(path: Path): number }

/** Parses the documents of a file. Nothing is returned of a file with an error. */
export function parseDocuments(file: string, text: string): { documents: WrittenDocument[]; problems: string[] } {
  const lines = new LineCounter()
  const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, version: '1.2', merge: false, intAsBigInt: true })
  const problems: string[] = []
  const documents: WrittenDocument[] = []
  for (const document of Array.isArray(parsed) ? parsed : []) {
    for (const { pos, message } of [...document.errors, ...document.warnings])
      problems.push(`${file}:${lines.linePos(pos[0]).line}: ${message}`)
    if (document.errors.length > 0 || document.contents === null) continue
    const line = lineOfNode(document.contents, lines) ?? 1
    if (!isMap(document.contents)) {
      problems.push(`${file}:${line}: a document is a mapping with kind and the fields of one object`)
      continue
    }
    const contents = document.contents
    try {
      const fields = withNumbers(document.toJS())
      if (isFields(fields)) documents.push({ file, fields, line, lineOf: (path) => lineAt(contents, path, lines) ?? line })
    } catch (cause) {
      problems.push(`${file}:${line}: ${cause instanceof Error ? cause.message : 'the document cannot be read'}`)
    }
  }
  return { documents, problems }
}

/** Integers are numbers, except those that a number cannot hold. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (Array.isArray(value)) return value.map(withNumbers)
  return isFields(value) ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withNumbers(inner)])) : value
}

/** The line of a member, or of the innermost present one that holds it. */
function lineAt(contents: YAMLMap, path: Path, lines: LineCounter): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const line = lineOfMember(contents, path.slice(0, length), lines)
    if (line !== undefined) return line
  }
  return undefined
}

function lineOfMember(contents: YAMLMap, path: Path, lines: LineCounter): number | undefined {
  const holder = path.length === 1 ? contents : contents.getIn(path.slice(0, -1), true)
  const name = path.at(-1)
  if (isMap(holder)) {
    const pair = holder.items.find(({ key }) => String(isNode(key) && 'value' in key ? key.value : key) === String(name))
    return pair && isNode(pair.key) ? lineOfNode(pair.key, lines) : undefined
  }
  if (isAlias(holder)) return lineOfNode(holder, lines)
  const item = contents.getIn(path, true)
  return isNode(item) ? lineOfNode(item, lines) : undefined
}

const lineOfNode = (node: Node, lines: LineCounter): number | undefined => (node.range ? lines.linePos(node.range[0]).line : undefined)

/** Writes documents one after another, in the order given. */
export const writeDocuments = (documents: readonly ConfigFields[]): string =>
  documents.map((fields) => `---\n${stringify(fields, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.2' })}`).join('')
