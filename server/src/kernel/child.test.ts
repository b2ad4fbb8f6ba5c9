import { type ChildProcess, spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { type ChildPlan, supervise } from './child.ts'
import { systemClock } from './clock.ts'
import { openLogger } from './log.ts'

const deps = { clock: systemClock, log: openLogger('silent') }

test('a stopping child may take its time although it no longer answers', async () => {
  const drained = 'process.stdin.resume().on("end", () => setTimeout(() => process.exit(7), 4_500))'
  const { plan, last } = makePlan(drained)
  const child = await supervise({ ...plan, ping: refuse, stopMs: 120_000 }, deps)
  await child.close()
  expect(last().exitCode).toBe(7)
  expect(child.state()).toEqual({ kind: 'stopped' })
})

test('a child that ended is started again, and one that does not answer is killed and started again', async () => {
  const { plan, started } = makePlan('process.stdin.resume().on("end", () => process.exit())')
  let isDeaf = false
  const child = await supervise({ ...plan, ping: async () => (isDeaf ? refuse() : undefined) }, deps)
  child.kill()
  await until(() => started() === 2 && child.state().kind === 'up')
  isDeaf = true
  await until(() => started() === 3)
  isDeaf = false
  await until(() => child.state().kind === 'up')
  expect(child.state()).toMatchObject({ kind: 'up', restarts: 2 })
  await child.close()
})

test('a child that is closed while it is being restarted does not outlive the close', async () => {
  const { plan, last, started } = makePlan('process.stdin.resume().on("end", () => process.exit())')
  let isSlow = false
  const spawned: (() => void)[] = []
  const slowSpawn = async () => {
    if (isSlow) await new Promise<void>((done) => spawned.push(done))
    return plan.spawn()
  }
  const child = await supervise({ ...plan, spawn: slowSpawn }, deps)
  isSlow = true
  child.kill()
  await until(() => spawned.length === 1)
  const closed = child.close()
  spawned[0]?.()
  await closed
  expect(started()).toBe(2)
  await until(() => last().exitCode !== null || last().signalCode !== null)
})

test('a program that exits before it is ready is a failed start, even with status 0', async () => {
  const { plan } = makePlan('process.exit(0)')
  await expect(supervise({ ...plan, ready: refuse }, deps)).rejects.toThrow('test child exited before it was ready (status 0)')
})

const refuse = (): Promise<void> => Promise.reject(new Error('no answer'))

async function until(is: () => boolean): Promise<void> {
  while (!is()) await systemClock.sleep(20)
}

function makePlan(program: string) {
  const children: ChildProcess[] = []
  const plan: ChildPlan = {
    name: 'test child',
    spawn: async () => {
      const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'ignore', 'ignore'] })
      children.push(child)
      return child
    },
    ready: async () => undefined,
    ping: async () => undefined,
    stop: (child) => void child.stdin?.end(),
  }
  const last = () => {
    const child = children.at(-1)
    if (!child) throw new Error('no child was started')
    return child
  }
  return { plan, last, started: () => children.length }
}
