import { jsonReply, type ProtocolRead, protocolReads, type ReadCall } from '../../../http/protocol-reads.ts'
import type { FindRawHandler } from '../../../http/raw-handler.ts'
import type { World } from '../../../world.ts'
import { listDependencies } from './dependencies.ts'
import { listOperationNames, listOperations, listServices } from './names.ts'
import { searchTraces, traceById } from './searches.ts'

type List = { readonly data: readonly unknown[]; readonly errors?: readonly { readonly msg: string }[] }

/** Serves the HTTP API of Jaeger's query service. */
export function openJaegerReads(world: World): FindRawHandler {
  const read = (name: string, path: string, list: (world: World, call: ReadCall) => Promise<List>): ProtocolRead => ({
    name,
    path,
    run: async (call) => {
      const { data, errors = null } = await list(world, call)
      return jsonReply({ data, total: data.length, limit: 0, offset: 0, errors })
    },
  })
  return protocolReads({
    name: 'jaeger',
    prefix: '/jaeger/',
    reads: [
      read('services', 'api/services', listServices),
      read('serviceOperations', 'api/services/([^/]+)/operations', listOperationNames),
      read('operations', 'api/operations', listOperations),
      read('dependencies', 'api/dependencies', listDependencies),
      read('traces', 'api/traces', searchTraces),
      read('trace', 'api/traces/([^/]+)', traceById),
    ],
    failureBody: ({ status, message }) => ({
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify({ data: null, total: 0, limit: 0, offset: 0, errors: [{ code: status, msg: message }] }),
    }),
  })
}
