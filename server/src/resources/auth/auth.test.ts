import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../test/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

test('a user logs in with e-mail and password and is known by the token', async () => {
  const ada = await org.newUser(['Standard'])
  const login = await app.ask<{ token: string; token_type: string; expires_at: number; user: { id: string; last_logins: object } }>(
    'POST',
    '/auth/login',
    { body: { email: ada.email.toUpperCase(), password: ada.password } },
  )
  expect(login.status).toBe(200)
  expect(login.body.token_type).toBe('Bearer')
  const me = await app.ask<{ id: string }>('GET', '/auth/me', { token: login.body.token })
  expect(me.status).toBe(200)
  expect(me.body.id).toBe(ada.id)
})
