import { allPermissions, type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type Kind, listOf, pick, textOf } from '../kind.ts'

type Body = BodyInput<typeof contract.roles.create>

export const roleKind: Kind = {
  name: 'role',
  file: 'roles.yaml',
  members: ['display_name', 'description', 'role_type', 'permissions'],
  nameOf: ({ display_name }) => textOf(display_name),
  referredAs: { kind: 'role', prefix: '' },
  load: async ({ client, signal }) =>
    (await client.roles.list({ query: {}, signal })).roles.map((role) => ({
      id: role.role_id,
      isFixed: role.is_system_role,
      fields: {
        ...pick(role, roleKind.members),
        // A system role is known by its id, as in requests.
        ...(role.is_system_role ? { display_name: role.role_id } : {}),
        permissions: role.permissions.map(({ name }) => name),
      },
    })),
  check: (given) => {
    const { fields, problems } = checkFields(contract.roles.create.body, given)
    const unknown = listOf(given.permissions).flatMap((name, at) =>
      typeof name !== 'string' || (allPermissions as readonly string[]).includes(name)
        ? []
        : [{ path: ['permissions', at], message: `is no permission: ${name}; dendro permissions list has them` }],
    )
    // An empty list is kept: a document without one is refused, so that no role loses its permissions by a missing line.
    const permissions = Array.isArray(given.permissions) ? { permissions: [...new Set(listOf(fields.permissions))].sort() } : {}
    return { fields: { ...fields, ...permissions }, problems: [...problems, ...unknown] }
  },
  create: async ({ client, signal }, fields, send) =>
    (await send(() => client.roles.create({ body: fields as unknown as Body, signal }))).role_id,
  update: async ({ client, signal }, { before, fields }, send) => {
    await send(() => client.roles.update({ params: { roleId: before.id }, body: fields as unknown as Body, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.roles.remove({ params: { roleId: id }, signal })),
}
