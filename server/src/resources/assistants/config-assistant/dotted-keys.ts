import type { YamlFile } from './yaml-file.ts'

/** Finds a setting in files where `a.b: 1` and `a: {b: 1}` are equivalent; undefined if absent. */
export function dottedPath(file: YamlFile, name: string, from: readonly (string | number)[] = []): (string | number)[] | undefined {
  const parts = name.split('.')
  for (let taken = parts.length; taken > 0; taken -= 1) {
    const path = [...from, parts.slice(0, taken).join('.')]
    if (!file.has(path)) continue
    if (taken === parts.length) return path
    const rest = dottedPath(file, parts.slice(taken).join('.'), path)
    if (rest) return rest
  }
  return undefined
}

/** The path of a setting, or where to create it: within the existing part of its name. */
export function placeFor(file: YamlFile, name: string, from: readonly (string | number)[] = []): (string | number)[] {
  const parts = name.split('.')
  for (let taken = parts.length; taken > 0; taken -= 1) {
    const found = dottedPath(file, parts.slice(0, taken).join('.'), from)
    if (found) return taken === parts.length ? found : [...found, parts.slice(taken).join('.')]
  }
  return [...from, name]
}
