import { pathText } from './differences.ts'
import { type FilledFields, fillFromEnvironment, pathKey } from './environment.ts'
import { type ConfigFields, isFields, type Kind, type Path, type Problem, type ReferenceKind, SECRET } from './kind.ts'
import type { References } from './references.ts'
import type { WrittenDocument } from './yaml-documents.ts'

/** A valid document, before anything is known about the service. */
export type PreparedDocument = {
  kind: Kind
  name: string
  document: WrittenDocument
  /** The fields with defaults, and with placeholders instead of references. */
  fields: ConfigFields
  filled: FilledFields
  references: readonly { kind: ReferenceKind; name: string; path: Path }[]
}

export const placeOf = ({ file, lineOf }: WrittenDocument, path: Path = []): string => `${file}:${lineOf(path)}`

type Setting = { kinds: readonly Kind[]; references: References; env: Readonly<Record<string, string | undefined>> }

/** Validates documents by the contract, without any request. All problems are reported at once. */
export function prepareDocuments(
  documents: readonly WrittenDocument[],
  setting: Setting,
): { prepared: PreparedDocument[]; problems: string[] } {
  const results = documents.map((document) => prepareDocument(document, setting))
  const prepared = results.flatMap((result) => (result.prepared ? [result.prepared] : []))
  return { prepared, problems: [...results.flatMap(({ problems }) => problems), ...repeatedNames(prepared)] }
}

function prepareDocument(
  document: WrittenDocument,
  { kinds, references, env }: Setting,
): { prepared?: PreparedDocument; problems: string[] } {
  const problem = (path: Path, message: string) => `${placeOf(document, path)}: ${message}`
  const { kind: kindName, ...given } = document.fields
  const kind = kinds.find(({ name }) => name === kindName)
  if (!kind) return { problems: [problem(['kind'], kindProblem(kindName, kinds))] }
  const filled = fillFromEnvironment(given, env)
  const found: { kind: ReferenceKind; name: string; path: Path }[] = []
  const fields =
    kind.withReferences?.(filled.fields, (reference, name, path) => {
      found.push({ kind: reference, name, path })
      return references.placeholder(reference, name)
    }) ?? filled.fields
  const unknown = Object.keys(given).filter((member) => !kind.members.includes(member))
  const known = Object.fromEntries(Object.entries(fields).filter(([member]) => !unknown.includes(member)))
  const checked = kind.check(known)
  const problems = [
    ...unknown.map((member): Problem => ({ path: [member], message: `is not a field of ${kind.name}: it has ${kind.members.join(', ')}` })),
    ...filled.missing.map(({ path, name }): Problem => ({ path, message: `needs the environment variable ${name}, which is not set` })),
    ...literalSecrets(kind, given, filled),
    // A value that is missing in the environment is not judged.
    ...(filled.missing.length > 0 ? [] : checked.problems),
  ]
  const name = kind.nameOf(filled.fields)
  const shown = problems.map(({ path, message }) => problem(path, `${kind.name} ${name}: ${pathText(path)} ${message}`.replace(/ +/g, ' ')))
  return { problems: shown, prepared: { kind, name, document, fields: checked.fields, filled, references: found } }
}

const kindProblem = (given: unknown, kinds: readonly Kind[]): string => {
  const known = kinds.map(({ name }) => name).join(', ')
  if (given === undefined) return `kind is required, one of ${known}`
  return `kind ${String(given).slice(0, 100)} cannot be kept in files; the kinds are ${known}`
}

const FROM_ENVIRONMENT = `take the value from the environment, as in $\{NAME}`

/** A secret must not stand in a file, and the mask of a response is none. */
function literalSecrets(kind: Kind, given: ConfigFields, { written }: FilledFields): Problem[] {
  return leavesOf(given, []).flatMap(({ path, value }): Problem[] => {
    if (!kind.isSecret?.(path) || written.has(pathKey(path))) return []
    if (kind.needsEnvironment?.(path)) return [{ path, message: `is a secret: ${FROM_ENVIRONMENT}` }]
    return value === SECRET ? [{ path, message: `is the mask of a secret: ${FROM_ENVIRONMENT}` }] : []
  })
}

const leavesOf = (value: unknown, path: Path): { path: Path; value: unknown }[] => {
  if (Array.isArray(value)) return value.flatMap((item, at) => leavesOf(item, [...path, at]))
  if (isFields(value)) return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]))
  return value === undefined || value === null ? [] : [{ path, value }]
}

function repeatedNames(prepared: readonly PreparedDocument[]): string[] {
  const first = new Map<string, PreparedDocument>()
  return prepared.flatMap((one) => {
    const key = `${one.kind.name}\0${one.name}`
    const earlier = first.get(key)
    if (!earlier) first.set(key, one)
    return earlier ? [`${placeOf(one.document)}: ${one.kind.name} ${one.name} is already in ${placeOf(earlier.document)}`] : []
  })
}
