import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { figures } from './figures.ts'
import { type Demand, planSize } from './plan.ts'
import { printSize } from './sizing.ts'

const run = (given: string): { status: number; text: string } => {
  const lines: string[] = []
  const status = printSize(given.split(' '), (line) => lines.push(line))
  return { status, text: lines.join('\n') }
}

test('the examples of docs/scale.md are what the program prints', () => {
  const page = readFileSync(new URL('../../../docs/scale.md', import.meta.url), 'utf8')
  const examples = [...page.matchAll(/```\n\$ npm run --silent size -- (.+)\n([^`]+)\n```/g)]
  expect(examples.length).toBeGreaterThan(3)
  for (const [, given = '', shown] of examples) expect(run(given)).toEqual({ status: 0, text: shown })
})

test('the figures of docs/scale.md are those of the program', () => {
  const page = readFileSync(new URL('../../../docs/scale.md', import.meta.url), 'utf8')
  for (const shown of [
    `| service | ${figures.serviceCpuPerGb} CPU s/GB |`,
    `| event store | ${figures.storeCpuPerGb} CPU s/GB |`,
    `| one process with two cores | ${figures.processMbPerSecond} MB/s |`,
    `| disk | ${figures.storedShare} of the lines |`,
    `| ${figures.mergeRoom}, ${figures.diskShare} |`,
    `| share of a processor in use | ${figures.cpuShare} |`,
  ]) {
    expect(page).toContain(shown)
  }
})

const demands = fc.record<Demand>({
  bytesPerDay: fc.double({ min: 1e6, max: 1e15, noNaN: true }),
  retentionDays: fc.integer({ min: 1, max: 3_650 }),
  replicas: fc.integer({ min: 1, max: 5 }),
  peak: fc.integer({ min: 1, max: 50 }),
  node: fc.record({ cores: fc.integer({ min: 1, max: 256 }), diskBytes: fc.double({ min: 1e9, max: 1e14, noNaN: true }) }),
})

test('every plan has the disk and the processor cores that it says are needed, and more is never less', () => {
  fc.assert(
    fc.property(demands, fc.double({ min: 1, max: 10, noNaN: true }), (demand, factor) => {
      const plan = planSize(demand, figures)
      const machines = plan.oneMachine ? 1 : plan.storeNodes
      expect(machines * demand.node.diskBytes * (1 + 1e-9)).toBeGreaterThanOrEqual(plan.diskBytes)
      expect(machines * demand.node.cores * (1 + 1e-9)).toBeGreaterThanOrEqual(
        plan.oneMachine ? plan.storeCores + plan.serviceCores : plan.storeCores,
      )
      const more = planSize({ ...demand, bytesPerDay: demand.bytesPerDay * factor }, figures)
      expect(more.diskBytes).toBeGreaterThanOrEqual(plan.diskBytes)
      expect(more.processes).toBeGreaterThanOrEqual(plan.processes)
    }),
  )
})

test.each([
  ['--retention 30d', '--per-day'],
  ['--per-day 2 --retention 30d', '--per-day'],
  ['--per-day 0GB --retention 30d', '--per-day'],
  ['--per-day 2TB', '--retention'],
  ['--per-day 2TB --retention 0d', '--retention'],
  ['--per-day 2TB --retention 3months', '--retention'],
  ['--per-day 2TB --retention 3 --replicas 0', '--replicas'],
  ['--per-day 2TB --retention 3 --peak x', '--peak'],
  ['--per-day 2TB --retention 3 --cores 9999', '--cores'],
  ['--per-day 2TB --retention 3 --disk big', '--disk'],
  ['--per-day 2TB --retention 3 --unknown', '--unknown'],
])('%s is refused, and the answer names %s', (given, name) => {
  const { status, text } = run(given)
  expect(status).toBe(2)
  expect(text.split('\n')[0]).toContain(name)
  expect(text).toContain('npm run size')
})
