import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import {
  acceptInvite,
  beginSecondFactor,
  changePassword,
  confirmSecondFactor,
  endOtherSessions,
  endSession,
  getSecondFactor,
  listSessions,
  logIn,
  logOut,
  removeSecondFactor,
  whoAmI,
} from './auth.ts'

export const authRoutes = (world: World): Routes =>
  routes('auth', contract.auth, {
    login: ({ facts, body }) => logIn(world, facts, body),
    acceptInvite: ({ facts, body }) => acceptInvite(world, facts, body),
    logout: ({ actor }) => logOut(world, actor),
    changePassword: ({ actor, body }) => changePassword(world, actor, body),
    me: ({ actor }) => whoAmI(world, actor),
  })

export const sessionRoutes = (world: World): Routes =>
  routes('sessions', contract.sessions, {
    list: ({ actor }) => listSessions(world, actor),
    remove: ({ actor, params }) => endSession(world, actor, params.sessionId),
    endOthers: ({ actor }) => endOtherSessions(world, actor),
  })

export const secondFactorRoutes = (world: World): Routes =>
  routes('secondFactor', contract.secondFactor, {
    get: ({ actor }) => getSecondFactor(world, actor),
    begin: ({ actor, body }) => beginSecondFactor(world, actor, body),
    confirm: ({ actor, body }) => confirmSecondFactor(world, actor, body),
    remove: ({ actor, body }) => removeSecondFactor(world, actor, body),
  })
