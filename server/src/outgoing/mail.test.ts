import { createServer, type Server, type Socket } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterEach, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'

type ReceivedMail = { status: number; body: { id: string; status: string; invitation_url?: string; success?: boolean; message?: string } }

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const portOf = (server: Server): number => (server.address() as { port: number }).port

async function openOn(env: Record<string, string>): Promise<{ app: TestApp; org: TestOrganization }> {
  const app = await openTestApp(env)
  closers.push(() => app.close())
  return { app, org: await app.newOrganization() }
}

/** A real mail server that records mails, or refuses every recipient. */
async function openRelay(refusing = false): Promise<{ url: string; mails: { email: Email; recipients: string[] }[] }> {
  const mails: { email: Email; recipients: string[] }[] = []
  const relay = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => done(refusing ? new Error('no such mailbox') : null),
    onData: async (stream, session, done) => {
      const pieces: Buffer[] = []
      for await (const piece of stream) pieces.push(piece as Buffer)
      mails.push({
        email: await PostalMime.parse(Buffer.concat(pieces)),
        recipients: session.envelope.rcptTo.map(({ address }) => address),
      })
      done()
    },
  })
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening))
  closers.push(() => new Promise<void>((closed) => relay.close(closed)))
  return { url: `smtp://127.0.0.1:${portOf(relay.server as Server)}`, mails }
}

const invite = (org: TestOrganization, over: object = {}): Promise<ReceivedMail> =>
  org.ask('POST', '/users', {
    body: { first_name: 'Grace', last_name: 'Hopper', email: 'grace@example.org', roles: ['Standard'], ...over },
  })

const accept = (app: TestApp, url: string | undefined) =>
  app.ask<{ user: { status: string } }>('POST', '/auth/accept-invite', {
    body: { token: new URL(url ?? '').searchParams.get('token'), password: 'seventeen otters in a canoe' },
  })

test('an invitation arrives as text and HTML with a link that works, and the answer has no link', async () => {
  const relay = await openRelay()
  const { app, org } = await openOn({
    DENDRO_SMTP_URL: relay.url,
    DENDRO_MAIL_FROM: 'Logs <logs@example.org>',
    DENDRO_PUBLIC_URL: 'https://logs.example.org',
  })
  const made = await invite(org, { first_name: '<b>Grace</b>' })
  expect([made.status, made.body.status, made.body.invitation_url]).toEqual([201, 'INVITED', undefined])
  expect(relay.mails).toHaveLength(1)
  const { email, recipients } = relay.mails[0] ?? { email: undefined, recipients: [] }
  expect(recipients).toEqual(['grace@example.org'])
  expect(email).toMatchObject({ subject: 'Your invitation to Dendro', from: { name: 'Logs', address: 'logs@example.org' } })
  const link = /https:\S+/.exec(email?.text ?? '')?.[0]
  expect(link).toMatch(/^https:\/\/logs\.example\.org\/accept-invite\?token=[\w-]{43}$/)
  expect(email?.html).toContain(`href="${link}"`)
  expect(email?.html).toContain('&lt;b&gt;Grace&lt;/b&gt;')
  expect(email?.html).not.toContain('<b>Grace')
  expect((await accept(app, link)).body.user.status).toBe('ACTIVE')
})

test('without a relay the link is in the answer, for a creation, a new invitation and a reset', async () => {
  const { app, org } = await openOn({})
  Object.assign(app.app.world, { mailer: { configured: false, send: async () => Promise.reject(new Error('nobody sends')) } })
  const made = await invite(org)
  expect(made.status).toBe(201)
  expect(made.body.invitation_url).toMatch(new RegExp(`^${app.url}/accept-invite\\?token=[\\w-]{43}$`))
  const again: ReceivedMail = await org.ask('POST', `/users/${made.body.id}/resend-invite`)
  expect(again.body).toMatchObject({ success: true, message: 'hand this link to the person: no mail could be sent' })
  expect((await accept(app, made.body.invitation_url)).status).toBe(400)
  expect((await accept(app, again.body.invitation_url)).status).toBe(200)
  const reset: ReceivedMail = await org.ask('POST', `/users/${made.body.id}/reset-password`)
  expect((await accept(app, reset.body.invitation_url)).status).toBe(200)
  expect(JSON.stringify((await org.ask('GET', `/users/${made.body.id}`)).body)).not.toContain('token=')
  expect(JSON.stringify((await org.ask('GET', '/audit')).body)).not.toContain('token=')
})

test('when the relay refuses, the user is created and the link is in the response', async () => {
  const relay = await openRelay(true)
  const { app, org } = await openOn({ DENDRO_SMTP_URL: relay.url })
  const made = await invite(org)
  expect(made.status).toBe(201)
  expect((await accept(app, made.body.invitation_url)).status).toBe(200)
})

test('when the relay is down, the user is created and the link is in the response', async () => {
  const { org } = await openOn({ DENDRO_SMTP_URL: 'smtp://127.0.0.1:1' })
  const made = await invite(org)
  expect([made.status, typeof made.body.invitation_url]).toEqual([201, 'string'])
})

test('when the relay hangs, the link is in the response', async () => {
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => void sockets.add(socket))
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
  closers.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((closed) => silent.close(closed))
  })
  const { org } = await openOn({ DENDRO_SMTP_URL: `smtp://127.0.0.1:${portOf(silent)}` })
  const made = await invite(org)
  expect(sockets.size).toBe(1)
  expect([made.status, typeof made.body.invitation_url]).toEqual([201, 'string'])
})
