import { expect, test } from 'vitest'
import { LoginLines } from './login-line.ts'

/** Starts logins that end on request, and counts those that run. */
function crowd(lines: LoginLines, address: string, count: number) {
  const ends: (() => void)[] = []
  const answers = Array.from({ length: count }, () => lines.run(address, () => new Promise<void>((end) => ends.push(end))))
  return { ends, settled: Promise.allSettled(answers) }
}

const quiet = (): Promise<void> => new Promise((done) => setImmediate(done))

test('of one network twenty logins run at a time, 250 wait, and more are refused; another network does not notice', async () => {
  const lines = new LoginLines()
  const { ends, settled } = crowd(lines, '192.0.2.1', 300)
  await quiet()
  expect(ends).toHaveLength(20)
  expect(await lines.run('192.0.2.2', async () => 'at once')).toBe('at once')
  for (let ended = 0; ended < 270; ended += 1) {
    ends[ended]?.()
    await quiet()
    expect(ends).toHaveLength(Math.min(270, 20 + ended + 1))
  }
  const refused = (await settled).filter((answer) => answer.status === 'rejected')
  expect(refused).toHaveLength(30)
  expect(refused[0]?.reason).toMatchObject({ status: 503 })
})

test('a login that fails makes room, and the whole process has a bound', async () => {
  const lines = new LoginLines()
  await expect(lines.run('192.0.2.1', () => Promise.reject(new Error('wrong')))).rejects.toThrow('wrong')
  const crowds = Array.from({ length: 5 }, (_, n) => crowd(lines, `192.0.2.${n}`, 270))
  await quiet()
  const refused = async (): Promise<number> => {
    for (let round = 0; round < 20; round += 1) {
      for (const { ends } of crowds) for (const end of ends.splice(0)) end()
      await quiet()
    }
    const all = await Promise.all(crowds.map(({ settled }) => settled))
    return all.flat().filter(({ status }) => status === 'rejected').length
  }
  expect(await refused()).toBe(5 * 250 - 1_000)
})
