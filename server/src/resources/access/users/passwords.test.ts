import { expect, test } from 'vitest'
import { systemIds } from '../../../kernel/ids.ts'
import { Secret } from '../../../kernel/secret.ts'
import { hashPassword, isOutdated, isPassword } from './passwords.ts'

const world = { ids: systemIds }
const password = new Secret('seventeen otters in a canoe')

test('a password fits its own hash and no other password does', async () => {
  const hash = await hashPassword(world, password)
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect(await isPassword(password, hash)).toBe(true)
  expect(await isPassword(new Secret('seventeen otters in a canoe '), hash)).toBe(false)
})

test('the same password has another hash each time', async () => {
  expect(await hashPassword(world, password)).not.toBe(await hashPassword(world, password))
})

test('a composed letter and its parts are the same password', async () => {
  const hash = await hashPassword(world, new Secret('caf\u00e9 in the morning'))
  expect(await isPassword(new Secret('cafe\u0301 in the morning'), hash)).toBe(true)
})

test('nothing fits where no hash is stored', async () => {
  expect(await isPassword(new Secret(''), undefined)).toBe(false)
})

test('a hash of a lower cost still verifies and counts as outdated', async () => {
  const cheap = '$argon2id$v=19$m=256,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  expect(await isPassword(password, cheap)).toBe(false)
  expect(isOutdated(cheap)).toBe(true)
  expect(isOutdated(await hashPassword(world, password))).toBe(false)
})

test('many concurrent passwords are all checked, two at a time, and too many get 503', async () => {
  const hash = await hashPassword(world, password)
  const answers = await Promise.allSettled(Array.from({ length: 330 }, () => isPassword(password, hash)))
  const checked = answers.filter((answer) => answer.status === 'fulfilled')
  expect(checked).toHaveLength(302)
  expect(checked.every((answer) => answer.value)).toBe(true)
  expect(await isPassword(password, hash)).toBe(true)
})
