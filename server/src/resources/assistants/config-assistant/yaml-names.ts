import type { YamlFile } from './yaml-file.ts'

/** The wanted name, with a number if it is taken. */
export function freeName(taken: readonly string[], wanted: string): string {
  if (!taken.includes(wanted)) return wanted
  for (let number = 2; ; number += 1) if (!taken.includes(`${wanted}_${number}`)) return `${wanted}_${number}`
}

/** Adds settings under a free name and returns that name. */
export function addNamed(file: YamlFile, section: readonly string[], wanted: string, settings: object, comment?: string): string {
  const name = freeName(file.keys(section), wanted)
  file.set([...section, name], settings, comment)
  return name
}
