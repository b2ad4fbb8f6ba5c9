import { escapeReferences, mapTexts, variableName } from './environment.ts'
import type { Inventory } from './inventory.ts'
import { type ConfigFields, type ConfigService, type Kind, pick, SECRET } from './kind.ts'

/** A file beside the documents, which is loaded when it is written. */
type ContentFile = { name: string; load(): Promise<string> }
export type ExportedKind = { kind: Kind; documents: readonly ConfigFields[]; variables: readonly string[]; files: readonly ContentFile[] }

type Setting = {
  service: ConfigService
  inventory: Inventory
  /** The names of variables that other documents use. */
  usedNames: Set<string>
  /** Whether long contents go into files of their own; otherwise they stand in the documents. */
  hasFiles: boolean
}

/** The objects of a kind as documents, sorted by name unless their order has a meaning, with references to the environment instead of secrets. */
export async function exportKind(kind: Kind, setting: Setting): Promise<ExportedKind> {
  const { inventory, usedNames } = setting
  const objects = (await inventory.objects(kind)).filter(({ stored }) => !stored.isFixed)
  const sorted = kind.reorder ? objects : [...objects].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const variables: string[] = []
  const freeName = (...words: string[]): string => {
    const base = variableName(...words)
    let [name, number] = [base, 2]
    for (; usedNames.has(name); number += 1) name = `${base}_${number}`
    usedNames.add(name)
    variables.push(name)
    return `\${${name}}`
  }
  const documents = sorted.map(({ name, fields }): ConfigFields => {
    const written = mapTexts(
      escapeReferences(fields),
      (text, path) => (text === SECRET && kind.isSecret?.(path) ? freeName(kind.name, name, String(path.at(-1))) : text),
      [],
    ) as ConfigFields
    return { kind: kind.name, ...pick(written, kind.members) }
  })
  if (!kind.contents) return { kind, documents, variables, files: [] }
  const { member, fileOf, load } = kind.contents
  const files: ContentFile[] = []
  const whole: ConfigFields[] = []
  for (const [at, document] of documents.entries()) {
    const object = sorted[at]
    if (!object) continue
    const loadOne = () => load(setting.service, object.stored)
    if (setting.hasFiles) {
      const name = freeFileName(fileOf, object.name, files)
      files.push({ name, load: loadOne })
      whole.push({ ...document, [member]: { file: name } })
    } else whole.push({ ...document, ...escapeReferences({ [member]: await loadOne() }) })
  }
  return { kind, documents: whole, variables, files }
}

const FILE_NAME_MAX = 80

/** A name that no other file has, also where capitals do not count. */
function freeFileName(fileOf: (name: string) => string, name: string, others: readonly ContentFile[]): string {
  const plain = name.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, FILE_NAME_MAX)
  const taken = new Set(others.map((other) => other.name.toLowerCase()))
  let [free, number] = [fileOf(plain), 2]
  for (; taken.has(free.toLowerCase()); number += 1) free = fileOf(`${plain}-${number}`)
  return free
}

/** The names that several objects have; a file could not say which one it means. */
export async function repeatedObjects(kind: Kind, inventory: Inventory): Promise<string[]> {
  const ids = new Map<string, string[]>()
  for (const { name, stored } of await inventory.objects(kind)) ids.set(name, [...(ids.get(name) ?? []), stored.id])
  return [...ids].flatMap(([name, found]) =>
    found.length > 1 ? [`${found.length} objects are ${kind.name} ${name}; rename or delete one of ${found.join(', ')}`] : [],
  )
}
