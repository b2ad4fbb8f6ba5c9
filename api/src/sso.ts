import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nothing, text } from './values.ts'

const ABSENT = 'single sign-on is not available yet; users log in with a password'
const params = z.object({ name: text(1, 255) })
const common = { tier: 'X', absent: ABSENT, fails: [501] } as const

/** Not built: the lists are empty, and everything else is 501. */
export const sso = {
  idps: endpoint({
    method: 'GET',
    path: '/sso/idps',
    permission: 'access_read',
    tier: 'X',
    summary: 'Identity providers',
    reply: z.object({ idps: nothing }),
    empty: ABSENT,
  }),
  createIdp: endpoint({ method: 'POST', path: '/sso/idps', permission: 'access_write', summary: 'Add an identity provider', ...common }),
  idp: endpoint({
    method: 'GET',
    path: '/sso/idps/{name}',
    permission: 'access_read',
    summary: 'One identity provider',
    params,
    ...common,
  }),
  updateIdp: endpoint({
    method: 'PATCH',
    path: '/sso/idps/{name}',
    permission: 'access_write',
    summary: 'Change an identity provider',
    params,
    ...common,
  }),
  removeIdp: endpoint({
    method: 'DELETE',
    path: '/sso/idps/{name}',
    permission: 'access_delete',
    summary: 'Remove an identity provider',
    params,
    ...common,
  }),
  mappings: endpoint({
    method: 'GET',
    path: '/sso/mappings',
    permission: 'access_read',
    tier: 'X',
    summary: 'Mappings to roles',
    reply: z.object({ mappings: nothing }),
    empty: ABSENT,
  }),
  createMapping: endpoint({ method: 'POST', path: '/sso/mappings', permission: 'access_write', summary: 'Add a mapping', ...common }),
  updateMapping: endpoint({ method: 'PUT', path: '/sso/mappings', permission: 'access_write', summary: 'Change a mapping', ...common }),
  removeMapping: endpoint({ method: 'DELETE', path: '/sso/mappings', permission: 'access_delete', summary: 'Remove a mapping', ...common }),
}
