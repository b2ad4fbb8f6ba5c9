import { contract } from '@dendro/api'
import type { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { brokenRule } from './password-rules.ts'
import { hashPassword } from './passwords.ts'
import { insertUser } from './rows.ts'
import { defaultMethods, emailKey } from './user-record.ts'

export type FirstAdmin = { email: string; password: Secret }

const NAME = { first_name: 'First', last_name: 'Administrator' }

/** Refuses to start when the settings would create an administrator that anyone could log in as. */
export function checkAdmin({ email, password }: FirstAdmin): void {
  if (!contract.users.create.body.shape.email.safeParse(email).success) throw new Error('DENDRO_ADMIN_EMAIL must be an e-mail address')
  const broken = brokenRule(password.reveal(), { email, ...NAME })
  if (broken) throw new Error(`DENDRO_ADMIN_PASSWORD ${broken}`)
}

/** Creates the first administrator, without invitation, in the transaction that creates the organization. */
export async function bootstrapAdmin(world: Pick<World, 'clock' | 'ids'>, tx: Db, orgId: string, admin: FirstAdmin): Promise<void> {
  checkAdmin(admin)
  const nowMs = world.clock.nowMs()
  await insertUser(tx, {
    org_id: orgId,
    id: world.ids.uuid(),
    ...NAME,
    email: admin.email,
    email_key: emailKey(admin.email),
    roles: ['Admin'],
    last_logins: {},
    login_methods: [...defaultMethods],
    tags: {},
    status: 'ACTIVE',
    invited_at: null,
    invited_by: null,
    accepted_at: nowMs,
    preferences: {},
    created_at: nowMs,
    created_by: null,
    modified_at: nowMs,
    modified_by: null,
    password_hash: await hashPassword(world, admin.password),
  })
}
