import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readlink, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { DataType, load, open as openLibrary } from 'ffi-rs'
import { afterEach, beforeEach, expect, test } from 'vitest'

const run = promisify(execFile)
const serverSources = join(import.meta.dirname, '..', '..', 'server', 'src')
const CUTS = Number(process.env.DENDRO_TEST_CUTS ?? 3)
const DISK_BYTES = 500 * 2 ** 20

/** A power cut needs root and a separate file system; elsewhere these tests report that they did not run. */
const canCut =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  (await run('losetup', ['--find']).then(
    () => true,
    () => false,
  ))
if (!canCut) process.stderr.write('POWER CUT TESTS OF THE METADATA STORE DID NOT RUN: they need root and loop devices\n')

let root: string
let disk: string
let mount: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dendro-cut-'))
  disk = join(root, 'disk')
  mount = join(root, 'mount')
  await mkdir(mount)
  await writeFile(disk, '')
  await truncate(disk, DISK_BYTES)
  await run('mkfs.ext4', ['-q', disk])
})
afterEach(async () => {
  await run('umount', [mount]).catch(() => undefined)
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const mountDisk = () => run('mount', ['-o', 'loop', disk, mount])
const dataDir = () => join(mount, 'data')

/** Makes the file system drop everything that was not synced (EXT4_IOC_SHUTDOWN, without flushing its log). */
function cutPower(): void {
  const EXT4_IOC_SHUTDOWN = 0x8004587d
  const WITHOUT_LOG_FLUSH = Buffer.from([2, 0, 0, 0])
  openLibrary({ library: 'libc', path: 'libc.so.6' })
  const fd = openSync(mount, 'r')
  const status = load({
    library: 'libc',
    funcName: 'ioctl',
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.U64, DataType.U8Array],
    paramsValue: [fd, EXT4_IOC_SHUTDOWN, WITHOUT_LOG_FLUSH],
  })
  closeSync(fd)
  if (status !== 0) throw new Error('the file system was not shut down')
}

/** Ends processes on the dead disk and removes the disk. */
async function clearAway(service: ChildProcess): Promise<void> {
  const gone = service.exitCode === null && service.signalCode === null ? once(service, 'exit') : undefined
  service.kill('SIGKILL')
  await gone
  await expect
    .poll(
      async () => {
        for (const pid of await processesOn(mount)) process.kill(pid, 'SIGKILL')
        return run('umount', [mount]).then(
          () => 'gone',
          (busy) => String(busy),
        )
      },
      { interval: 50 },
    )
    .toBe('gone')
}

async function processesOn(dir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0)
  const where = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')))
  return pids.filter((_, n) => where[n]?.startsWith(dir))
}

/** Runs a script that has an open metadata store in `meta`, and passes each printed line to `hear`. */
function startService(script: string, hear: (line: string) => void): ChildProcess {
  const program = `
    const from = (file) => import(${JSON.stringify(serverSources)} + '/' + file)
    const [{ openMeta }, { sql }, { systemClock }, { systemIds }, { openLogger }] =
      await Promise.all(['meta/meta.ts', 'meta/sql.ts', 'kernel/clock.ts', 'kernel/ids.ts', 'kernel/log.ts'].map(from))
    console.log('starting')
    const meta = await openMeta({ dataDir: process.argv[1] }, { clock: systemClock, ids: systemIds, log: openLogger('silent') })
    ${script}`
  const service = spawn(process.execPath, ['--input-type=module', '-e', program, dataDir()], { stdio: ['ignore', 'pipe', 'ignore'] })
  createInterface(service.stdout).on('line', hear)
  return service
}

async function keptRows(): Promise<number[]> {
  const lines: string[] = []
  const service = startService(
    `await meta.run(sql\`create table if not exists kept (n bigint primary key)\`)
    console.log(JSON.stringify((await meta.all(sql\`select n from kept\`)).map((row) => row.n)))
    await meta.close()`,
    (line) => lines.push(line),
  )
  const [status] = await once(service, 'exit')
  expect(status).toBe(0)
  return JSON.parse(lines.at(-1) ?? '')
}

test.skipIf(!canCut)(
  `${CUTS} power cuts under writes: it opens unaided and no acknowledged row is lost`,
  { timeout: 1_200_000 },
  async () => {
    const acknowledged = new Set<number>()
    for (let cut = 0; cut < CUTS; cut += 1) {
      await mountDisk()
      const before = acknowledged.size
      const service = startService(
        `await meta.run(sql\`create table if not exists kept (n bigint primary key)\`)
      const write = async (n) => {
        for (; ; n += 4) await meta.write('org', (tx) => tx.run(sql\`insert into kept values (\${n})\`)).then(() => console.log(n))
      }
      await Promise.all([0, 1, 2, 3].map((writer) => write(${cut} * 1e6 + writer)))`,
        (line) => line !== 'starting' && acknowledged.add(Number(line)),
      )
      await expect.poll(() => acknowledged.size - before, { interval: 5 }).toBeGreaterThan(100 + 731 * cut)
      cutPower()
      await clearAway(service)
      await mountDisk()
      const kept = new Set(await keptRows())
      expect([...acknowledged].filter((n) => !kept.has(n))).toEqual([])
      await run('umount', [mount])
    }
  },
)

test.skipIf(!canCut)(
  `${CUTS} power cuts during the first start: the next start makes or opens the store`,
  { timeout: 1_200_000 },
  async () => {
    for (let cut = 0; cut < CUTS; cut += 1) {
      await mountDisk()
      const started = Promise.withResolvers<void>()
      const service = startService('await meta.close()', () => started.resolve())
      await started.promise
      await new Promise((moment) => setTimeout(moment, (800 * (cut + 0.5)) / CUTS))
      cutPower()
      await clearAway(service)
      await mountDisk()
      expect(await keptRows()).toEqual([])
      await rm(dataDir(), { recursive: true })
      await run('umount', [mount])
    }
  },
)
