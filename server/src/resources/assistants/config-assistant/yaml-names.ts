import type { YamlFile } from './yaml-file.ts'

/** freeName is a name that is not taken: the wanted one, or with a number behind it. */
export function freeName(taken: readonly string[], wanted: string): string {
  if (!taken.includes(wanted)) return wanted
  for (let number = 2; ; number += 1) if (!taken.includes(`${wanted}_${number}`)) return `${wanted}_${number}`
}

/** addNamed puts settings under a name of their own and gives that name. */
export function addNamed(file: YamlFile, section: readonly string[], wanted: string, settings: object, comment?: string): string {
  const name = freeName(file.keys(section), wanted)
  file.set([...section, name], settings, comment)
  return name
}
