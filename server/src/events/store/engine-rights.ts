import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import type { Logger } from '../../kernel/log.ts'

const PROGRAMS = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/sbin/setpriv']
const TRY_MS = 5_000

/**
 * The command prefix that drops the capabilities of root, which a compromised engine must not have. It keeps those needed for files that
 * belong to other users.
 */
export async function capabilityDropCommand(dirs: readonly string[], log: Pick<Logger, 'warn'>): Promise<readonly string[]> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return []
  const owners = await Promise.all(dirs.map(async (dir) => (await stat(dir)).uid))
  const kept = owners.every((uid) => uid === 0) ? '' : ',+chown,+dac_override,+fowner'
  for (const program of PROGRAMS) {
    if (!(await isThere(program))) continue
    const words = [program, '--no-new-privs', '--inh-caps=-all', `--bounding-set=-all${kept}`, '--']
    if (await runsWell(words)) return words
  }
  log.warn({}, 'the event engine keeps the capabilities of root because setpriv is not installed; start Dendro as an ordinary user')
  return []
}

const isThere = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

async function runsWell([program = '', ...args]: readonly string[]): Promise<boolean> {
  const child = spawn(program, [...args, process.execPath, '--version'], { stdio: 'ignore', timeout: TRY_MS, env: {} })
  try {
    const [status] = await once(child, 'exit')
    return status === 0
  } catch {
    return false
  }
}
