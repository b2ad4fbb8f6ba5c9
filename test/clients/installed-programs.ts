import { existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Daemons lie outside the PATH of users. */
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/lib/systemd']

/** The first of some programs that is installed. */
export const programOf = (...names: string[]): string | undefined =>
  names.flatMap((name) => FOLDERS.map((folder) => join(folder, name))).find((path) => existsSync(path))

/** rsyslog with a module that has a package of its own. */
export function rsyslogWith(module: string): string | undefined {
  const hasModule = globSync(`/usr/lib{,64}/{,*/}rsyslog/${module}.so`).length > 0
  return hasModule ? programOf('rsyslogd') : undefined
}
