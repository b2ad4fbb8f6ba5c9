import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventsTables } from '../../lines/layout/table.ts'
import { clusterPlan, planText } from './cluster-plan.ts'
import { ask, makeEngines } from './engine.fixture.ts'
import type { EventStore } from './events.ts'

const engines = makeEngines()
let store: EventStore
beforeAll(async () => {
  store = await engines.open(await engines.madeDir())
})
afterAll(engines.cleanUp)

const plan = () => clusterPlan({ database: 'logs', cluster: 'blue' })
const statementsOf = async (): Promise<string[]> => (await plan()).flatMap(({ statements }) => statements)

/** What the parser of the engine makes of a statement; undefined where it is refused. */
async function parsed(statement: string): Promise<string | undefined> {
  const answer = await store.writer.query({
    query: 'select formatQueryOrNull({statement:String}) as formatted',
    query_params: { statement },
    format: 'JSONEachRow',
  })
  return (await answer.json<{ formatted: string | null }>())[0]?.formatted ?? undefined
}

test('the parser of the engine accepts every statement of the plan, with its cluster', async () => {
  const statements = await statementsOf()
  expect(statements.length).toBeGreaterThan(80)
  for (const statement of statements) {
    const formatted = await parsed(statement)
    expect(formatted, statement).toBeDefined()
    expect(formatted?.toLowerCase().includes('on cluster blue'), statement).toBe(statement.includes("on cluster 'blue'"))
  }
  expect(await parsed("alter table x on cluster 'blue' move part to")).toBeUndefined()
})

test('every table of one server is created in the plan, replicated, and those of events once more over all shards', async () => {
  const statements = await statementsOf()
  const made = (pattern: RegExp) => statements.flatMap((statement) => pattern.exec(statement)?.[1] ?? []).sort()
  const tables = (await ask<{ name: string }>(store.writer, 'select name from system.tables where database = currentDatabase()')).map(
    ({ name }) => name,
  )
  const ofEvents = tables.filter((name) => eventsTables.some((table) => table === name))
  // The first migration that the version before can run without makes this table.
  const others = [...new Set([...tables.filter((name) => !ofEvents.includes(name)), 'compatible_migrations'])]
  expect(ofEvents.length).toBe(eventsTables.length)
  expect(made(/^create table if not exists (\w+)(?=[\s\S]*engine = Replicated)/)).toEqual(
    [...others, ...ofEvents.map((name) => `${name}_local`)].sort(),
  )
  expect(made(/^create table if not exists (\w+)(?=[\s\S]*engine = Distributed\('blue', 'logs')/)).toEqual(ofEvents.sort())
})

test('no migration names a cluster itself', async () => {
  const dir = join(import.meta.dirname, 'migrations')
  for (const file of await readdir(dir)) expect(await readFile(join(dir, file), 'utf8'), file).not.toMatch(/^(?!--).*\bon cluster '/im)
})

test('the text says when each statement is sent', async () => {
  const text = planText(await plan())
  expect(text).toMatch(/^-- At the first start.*\ncreate database if not exists logs on cluster 'blue';\n/)
  expect(text).toContain("\nalter table pattern_events_s_local on cluster 'blue' move part {name:String} to volume 'cold';\n")
  expect(text).toContain("settings insert_quorum = 'auto', insert_quorum_parallel = 0")
})
