import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** The commit of the last release, 0.1.0. A new release names its commit here. */
export const PREVIOUS_RELEASE = 'e77356ccc99e770222dc3cfbf7207601a635e2fc'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
/** What the service consists of. */
const FOLDERS = ['api', 'language', 'server']

export type PreviousRelease = { main: string; remove(): Promise<void> }

/**
 * Puts the code of the last release into a directory, from the history of this repository, with the packages that are installed here. Returns why not
 * where the history is not there, as in a shallow copy.
 */
export async function takePreviousRelease(): Promise<PreviousRelease | string> {
  const has = await run('git', ['-C', root, 'cat-file', '-e', `${PREVIOUS_RELEASE}^{commit}`]).then(
    () => true,
    () => false,
  )
  if (!has) return `the commit ${PREVIOUS_RELEASE} of the last release is not in the history here`
  const dir = await mkdtemp(join(tmpdir(), 'dendro-previous-'))
  const archive = spawn('git', ['-C', root, 'archive', PREVIOUS_RELEASE, 'package.json', ...FOLDERS], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const unpack = spawn('tar', ['-x', '-C', dir], { stdio: [archive.stdout, 'inherit', 'inherit'] })
  const [status] = await once(unpack, 'close')
  if (status !== 0) throw new Error(`the last release could not be unpacked: tar left with status ${status}`)
  await linkPackages(dir)
  return { main: join(dir, 'server/src/main.ts'), remove: () => rm(dir, { recursive: true, force: true }) }
}

/** Links the installed packages; those of this repository are the ones beside the old code. */
async function linkPackages(dir: string): Promise<void> {
  for (const from of ['.', ...FOLDERS]) {
    const names = await readdir(join(root, from, 'node_modules')).catch(() => [])
    if (names.length > 0) await mkdir(join(dir, from, 'node_modules'))
    for (const name of names.filter((one) => one !== '@dendro'))
      await symlink(join(root, from, 'node_modules', name), join(dir, from, 'node_modules', name))
  }
  await mkdir(join(dir, 'node_modules/@dendro'))
  for (const name of FOLDERS) await symlink(join(dir, name), join(dir, 'node_modules/@dendro', name))
}
