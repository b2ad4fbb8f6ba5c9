import type { IncomingHttpHeaders } from 'node:http'
import { contract } from '@dendro/api'
import type { Actor } from '../http/actor.ts'
import type { InnerCalls } from '../http/inner-calls.ts'
import { Answer, type Routes, routes } from '../http/mount.ts'
import { SerializedJson } from '../http/serialized-json.ts'
import { forbidden } from '../kernel/errors.ts'
import type { World } from '../world.ts'
import { answerMessage } from './protocol.ts'
import { openSession } from './session.ts'

type MessageReply = { jsonrpc: '2.0' }

/** The agent interface: tools that call the endpoints of the contract as the caller. */
export const agentInterfaceRoutes = (world: World, innerCalls: InnerCalls): Routes =>
  routes('agentInterface', contract.agentInterface, {
    send: async ({ actor, body, headers, signal, currentActor }) => {
      refuseForeignOrigin(headers, actor)
      const session = openSession(world, actor, innerCalls({ actor, signal, currentActor }))
      const { status, json } = await answerMessage(body, headers, session, signal)
      return new Answer(status, json === '' ? (undefined as unknown as MessageReply) : SerializedJson.as<MessageReply>(json))
    },
  })

/** A browser sends the origin of the page. No page of another site may use a credential here. */
function refuseForeignOrigin({ origin, host }: IncomingHttpHeaders, { facts }: Actor): void {
  const own = [new URL(facts.baseUrl).origin, `http://${host}`, `https://${host}`]
  if (origin === undefined || own.includes(origin)) return
  throw forbidden('the header Origin names another site; agents connect without a browser page')
}
