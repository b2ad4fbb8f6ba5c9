import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockDataDir } from './lock.ts'

let root: string
const children: ChildProcess[] = []

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dendro-lock-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

/** Another process that takes the lock and reports the result: "held" or the refusal. */
async function holder(dir: string): Promise<{ child: ChildProcess; said: string }> {
  const program = `const { lockDataDir } = await import(${JSON.stringify(join(import.meta.dirname, 'lock.ts'))})
    setInterval(() => undefined, 1000)
    await lockDataDir(process.argv[1]).then(() => console.log('held'), (refusal) => console.log(refusal.message))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const [said] = await once(child.stdout, 'data')
  return { child, said: String(said).trim() }
}

test('the directory is created for its owner only', async () => {
  const dir = join(root, 'deep', 'data')
  const lock = await lockDataDir(dir)
  expect((await stat(dir)).mode & 0o777).toBe(0o700)
  await lock.release()
})

test('a second process is refused with the holder and the directory by name, and the first keeps the lock', async () => {
  const { child } = await holder(root)
  await expect(lockDataDir(root)).rejects.toThrow(`the data directory ${root} is in use by process ${child.pid} on `)
  expect((await holder(root)).said).toContain(`process ${child.pid}`)
})

test('a second lock within one process is refused, and the lock is free again after the release', async () => {
  const lock = await lockDataDir(root)
  await expect(lockDataDir(root)).rejects.toThrow(`process ${process.pid} `)
  await lock.release()
  await lock.release()
  await (await lockDataDir(root)).release()
})

test('the lock of a killed process is free at once', async () => {
  const { child, said } = await holder(root)
  expect(said).toBe('held')
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
  await (await lockDataDir(root)).release()
})

test('the recorded id of a process without the lock, such as a reused pid, does not prevent locking', async () => {
  await writeFile(join(root, 'lock'), `${process.ppid} elsewhere 2026-01-01T00:00:00.000Z\n`)
  await (await lockDataDir(root)).release()
})

test('of many that start at once exactly one gets the lock', async () => {
  const stale = await holder(root)
  const gone = once(stale.child, 'exit')
  stale.child.kill('SIGKILL')
  await gone
  const said = (await Promise.all(Array.from({ length: 6 }, () => holder(root)))).map((one) => one.said)
  expect(said.filter((line) => line === 'held')).toHaveLength(1)
  expect(said.filter((line) => line.includes('is in use by process'))).toHaveLength(5)
})
