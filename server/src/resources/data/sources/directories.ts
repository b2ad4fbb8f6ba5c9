import { isAbsolute, normalize, relative, sep } from 'node:path'
import { badField } from '../../../kernel/errors.ts'
import type { SourceDirectory } from '../../../world.ts'

const PLACEHOLDER = '{organization}'

/** The directories that are open to an organization. */
export const directoriesOf = (opened: readonly SourceDirectory[], organization: string): string[] =>
  opened
    .filter(({ orgId }) => orgId === undefined || orgId === organization)
    .map(({ path, orgId }) => (orgId === undefined ? path.replace(PLACEHOLDER, organization) : path))

export const isWithin = (directory: string, path: string): boolean => {
  const way = relative(directory, path)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

/** The opened directory in which a directory lies; undefined for none. */
export const openedFor = (opened: readonly SourceDirectory[], organization: string, directory: string): string | undefined =>
  isAbsolute(directory) ? directoriesOf(opened, organization).find((path) => isWithin(path, normalize(directory))) : undefined

export function checkDirectory(opened: readonly SourceDirectory[], organization: string, directory: string): void {
  if (openedFor(opened, organization, directory) !== undefined) return
  throw badField('origin.directory', 'is none that the operator has opened to the organization (DENDRO_SOURCE_DIRECTORIES)')
}
