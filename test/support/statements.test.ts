import { expect, test } from 'vitest'
import { madeFrom, neverRun, templatesIn } from './statements.ts'

const ROWS = `
import { json, sql } from '../../../meta/sql.ts'
const isOpen = sql\`closed_at is null\`
export const all = (db, orgId) => db.all(sql\`select * from things where org_id = \${orgId} and \${isOpen} order by id\`)
export const remove = (db, id) => db.run(sql\`delete from things where id = \${id}\`)
`
const templates = templatesIn('server/src/resources/data/things/rows.ts', ROWS)
const listed = { text: 'select * from things where org_id = $1 and closed_at is null order by id', values: ['a'] }

test('templates are found where the tag of the metadata store is imported, and nowhere else', () => {
  expect(templates.map(({ place }) => place.split(':')[1])).toEqual(['3', '4', '5'])
  expect(templatesIn('server/src/reading/statistics/count.ts', 'import { sql } from "./statement.ts"\nsql`select 1`')).toEqual([])
})

test('a template counts as run when a recorded statement has its text, with any values', () => {
  expect(neverRun(templates, [listed]).map(({ pieces }) => pieces[0])).toEqual(['delete from things where id = '])
  expect(neverRun(templates, [listed, { text: 'delete from things where id = $1', values: [1] }])).toEqual([])
  expect(neverRun(templates, [{ ...listed, text: listed.text.replace('order by id', 'order by name') }]).map(({ place }) => place)).toEqual(
    ['server/src/resources/data/things/rows.ts:4', 'server/src/resources/data/things/rows.ts:5'],
  )
})

test('statements of the tests themselves are not replayed', () => {
  expect(madeFrom(templates, [listed, { text: 'select pg_sleep($1)', values: [10] }])).toEqual([listed])
})
