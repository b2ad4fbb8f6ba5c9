import { escapeReferences, mapTexts, variableName } from './environment.ts'
import type { Inventory } from './inventory.ts'
import { type ConfigFields, type Kind, pick, SECRET } from './kind.ts'

export type ExportedKind = { kind: Kind; documents: readonly ConfigFields[]; variables: readonly string[] }

/** The objects of a kind as documents, sorted by name unless their order has a meaning, with references to the environment instead of secrets. */
export async function exportKind(kind: Kind, inventory: Inventory, usedNames: Set<string>): Promise<ExportedKind> {
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
  return { kind, documents, variables }
}

/** The names that several objects have; a file could not say which one it means. */
export async function repeatedObjects(kind: Kind, inventory: Inventory): Promise<string[]> {
  const ids = new Map<string, string[]>()
  for (const { name, stored } of await inventory.objects(kind)) ids.set(name, [...(ids.get(name) ?? []), stored.id])
  return [...ids].flatMap(([name, found]) =>
    found.length > 1 ? [`${found.length} objects are ${kind.name} ${name}; rename or delete one of ${found.join(', ')}`] : [],
  )
}
