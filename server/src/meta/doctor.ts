import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { clientConfig } from './driver.ts'
import { listDumps } from './dump.ts'
import { lockDataDir } from './lock.ts'
import type { MetaOptions } from './meta.ts'
import { migrationStatus, VERSION_MIN } from './migrate.ts'
import { findPrograms } from './pg-programs.ts'
import { socketDirOf, socketUrl } from './socket.ts'

/** The result of one check. A failed check comes with advice. */
export type MetaDiagnosis = { ok: boolean; what: string; advice?: string }

const FREE_BYTES_MIN = 512 * 2 ** 20
const ANSWER_MS = 5_000

/** Checks everything the metadata store needs, running or not. Changes no data. */
export async function diagnoseMeta(options: Pick<MetaOptions, 'url' | 'dataDir'>): Promise<MetaDiagnosis[]> {
  if (options.url !== undefined) return diagnoseServer(options.url, 'check DENDRO_POSTGRES_URL and that the server runs')
  const dataDir = resolve(options.dataDir)
  const metaDir = join(dataDir, 'meta')
  const found = await stat(dataDir).catch(() => undefined)
  const findings = [await diagnosePrograms(found ? metaDir : undefined)]
  if (!found) return [...findings, { ok: true, what: `the data directory ${dataDir} will be created at the first start` }]
  findings.push(diagnoseMode(dataDir, found.mode), await diagnoseSpace(dataDir))
  if (!(await stat(join(metaDir, 'pg')).catch(() => undefined))) {
    return [...findings, { ok: true, what: `the metadata store will be created in ${metaDir} at the first start` }]
  }
  findings.push(await diagnoseDumps(metaDir))
  const isRunning = await isHeld(metaDir)
  if (!isRunning) return [...findings, { ok: true, what: 'the metadata store is not running now' }]
  return [...findings, ...(await diagnoseServer(socketUrl(socketDirOf(metaDir)), 'check the log of the service'))]
}

async function diagnosePrograms(metaDir: string | undefined): Promise<MetaDiagnosis> {
  const place = metaDir ?? join(await mkdtemp(join(tmpdir(), 'dendro-doctor-')), 'meta')
  try {
    const { prefix, bin, env, owner } = await findPrograms(place)
    const [program = '', ...args] = [...prefix, join(bin, 'postgres'), '--version']
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env, ...owner, timeout: ANSWER_MS })
    const [said, complaint, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    const asWhom = prefix.length > 0 ? 'in a user namespace' : owner ? `as user ${owner.uid}` : 'as this user'
    const made = metaDir && (await readFile(join(metaDir, 'pg', 'PG_VERSION'), 'utf8').catch(() => '')).trim()
    if (status !== 0) return { ok: false, what: `PostgreSQL does not run: ${complaint.trim()}`, advice: 'run npm install on this machine' }
    const fits = !made || said.includes(` ${made}.`)
    if (!fits)
      return {
        ok: false,
        what: `${said.trim()} cannot open data of version ${made}`,
        advice: 'install the version of Dendro that created it',
      }
    return { ok: true, what: `${said.trim()} runs ${asWhom}` }
  } catch (cause) {
    return { ok: false, what: 'PostgreSQL cannot be run here', advice: cause instanceof Error ? cause.message : String(cause) }
  } finally {
    if (metaDir === undefined) await rm(join(place, '..'), { recursive: true, force: true })
  }
}

function diagnoseMode(dataDir: string, mode: number): MetaDiagnosis {
  const isPrivate = (mode & 0o077) === 0
  const what = `the data directory ${dataDir} is ${isPrivate ? 'private' : 'open to other users of this machine'}`
  return isPrivate ? { ok: true, what } : { ok: false, what, advice: `chmod 700 ${dataDir}` }
}

async function diagnoseSpace(dataDir: string): Promise<MetaDiagnosis> {
  const { bavail, bsize } = await statfs(dataDir)
  const what = `${Math.floor((bavail * bsize) / 2 ** 20)} MiB are free for ${dataDir}`
  return bavail * bsize >= FREE_BYTES_MIN
    ? { ok: true, what }
    : { ok: false, what, advice: 'free some space: writing stops when there is none' }
}

async function diagnoseDumps(metaDir: string): Promise<MetaDiagnosis> {
  const dumps = await listDumps(join(metaDir, 'dumps'))
  const latest = dumps.at(-1)
  return {
    ok: true,
    what: latest
      ? `${dumps.length} dumps of the metadata, the latest of ${latest}`
      : 'no dump of the metadata yet (one is created every day)',
  }
}

async function isHeld(metaDir: string): Promise<boolean> {
  try {
    await (await lockDataDir(metaDir)).release()
    return false
  } catch {
    return true
  }
}

async function diagnoseServer(url: string, advice: string): Promise<MetaDiagnosis[]> {
  const client = new pg.Client({ ...clientConfig({ connectionString: url }), query_timeout: ANSWER_MS })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query(
      `select current_setting('server_version_num')::int as number, current_setting('server_version') as name`,
    )
    const version: { number: number; name: string } = rows[0]
    const isNew = version.number >= VERSION_MIN
    const server: MetaDiagnosis = {
      ok: isNew,
      what: `the metadata server answers, PostgreSQL ${version.name}`,
      ...(isNew ? {} : { advice: 'use version 14 or newer' }),
    }
    const { pending, unknown } = await migrationStatus(client)
    const tables: MetaDiagnosis =
      unknown.length > 0
        ? {
            ok: false,
            what: `its tables belong to a newer version of Dendro (${unknown.join(', ')})`,
            advice: 'start that version or a later one',
          }
        : { ok: true, what: pending.length > 0 ? `${pending.length} migrations will run at the next start` : 'its tables are up to date' }
    return [server, tables]
  } catch (cause) {
    return [{ ok: false, what: `the metadata server does not answer: ${cause instanceof Error ? cause.message : cause}`, advice }]
  } finally {
    client.end().catch(() => undefined)
  }
}
