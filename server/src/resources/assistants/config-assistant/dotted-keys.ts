import type { YamlFile } from './yaml-file.ts'

/** dottedPath finds a setting in files where `a.b: 1` and `a: {b: 1}` mean the same; undefined when it is not there. */
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

/** placeFor is where a setting stands, or where it belongs: within what is there of its name already. */
export function placeFor(file: YamlFile, name: string, from: readonly (string | number)[] = []): (string | number)[] {
  const parts = name.split('.')
  for (let taken = parts.length; taken > 0; taken -= 1) {
    const found = dottedPath(file, parts.slice(0, taken).join('.'), from)
    if (found) return taken === parts.length ? found : [...found, parts.slice(taken).join('.')]
  }
  return [...from, name]
}
