import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathNames, statusOf } from '../../api/src/index.ts'
import { isNightly } from '../support/nightly.ts'
import { comparable, mustAnswerAlike, renamer } from './comparable.ts'
import { endpoints, takes, uuidsIn, withUuids } from './endpoints.ts'
import { answersUnknown } from './examples.ts'
import { mustFail } from './failure.ts'
import { admin, auditOf, changing, exampleFor, guarded, isOpen, mustSucceed, send, withBody, withParams } from './requests.ts'
import { openStage, type Stage } from './stage.ts'

/**
 * The laws about records: what exists, whose it is, and what remembers a change. They also run on a PostgreSQL server of the system: before a merge
 * every third case of each law, as all statements are replayed there, and in the nightly run all.
 */
const STEP = process.env.DENDRO_TEST_POSTGRES_URL === undefined || isNightly ? 1 : 3
const cases = <Case>(all: readonly Case[]): Case[] => all.filter((_, index) => index % STEP === 0)

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.app.close())

describe('a valid request succeeds with what the contract lists and nothing else', () => {
  test.each(cases(endpoints))('$name', async (named) => {
    const ask = await exampleFor(named, stage.own)
    mustSucceed(named, await send(stage, named, ask, admin(stage.own, ask)))
  })
})

describe('a record that does not exist is 404', () => {
  test.each(
    cases(withParams.filter(({ law, endpoint, param }) => answersUnknown[law] === undefined && takes(endpoint, param, randomUUID()))),
  )('$law', async (named) => {
    const ask = await exampleFor(named, stage.own)
    const reply = await send(stage, named, { ...ask, params: { ...ask.params, [named.param]: randomUUID() } }, { key: stage.own.org.key })
    mustFail(reply, 404, { ...named, counted: !isOpen(named) })
  })
})

describe('records of another organization do not exist', () => {
  // Public endpoints have no organization: the holder of a signed link may follow it.
  test.each(cases(guarded.filter(({ endpoint }) => pathNames(endpoint.path).length > 0)))('$name', async (named) => {
    const foreign = await exampleFor(named, stage.own)
    const params = foreign.params ?? {}
    const unknown = withUuids(params, renamer())
    const credential = { key: stage.other.org.key }
    const [asForeign, asUnknown] = [
      await send(stage, named, foreign, credential),
      await send(stage, named, { ...foreign, params: unknown }, credential),
    ]
    expect(comparable(asForeign, params)).toEqual(comparable(asUnknown, unknown))
    if (!Object.keys(params).some((param) => answersUnknown[`${named.name}.${param}`])) mustFail(asForeign, 404, named)
  })
})

describe('a body that names records of another organization is answered as if they did not exist', () => {
  test.each(cases(withBody))('$name', async (named) => {
    const foreign = await exampleFor(named, stage.own)
    // A public endpoint has a caller of no organization.
    if (uuidsIn(foreign.body).length === 0 || named.endpoint.permission === 'public') return
    const home = await exampleFor(named, stage.other)
    const ask = { ...foreign, ...(home.params ? { params: home.params } : {}) }
    const unknown = withUuids(foreign.body, renamer())
    const credential = admin(stage.other, home)
    const known = (body: unknown) => Object.fromEntries(uuidsIn(body).map((id, index) => [String(index), id]))
    await mustAnswerAlike(async () => [
      comparable(await send(stage, named, ask, credential), known(ask.body)),
      comparable(await send(stage, named, { ...ask, body: unknown }, credential), known(unknown)),
    ])
  })
})

describe('every change leaves a record in the audit trail', () => {
  test.each(cases(changing))('$name', async (named) => {
    const ask = await exampleFor(named, stage.own)
    const reply = await send(stage, named, ask, admin(stage.own, ask))
    expect(reply.status).toBe(statusOf(named.endpoint))
    expect(await auditOf(stage, ask.key ?? stage.own.org.key, reply)).toMatchObject({ action: named.name, outcome: 'done' })
  })
})
