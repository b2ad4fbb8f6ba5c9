import type { FastifyInstance, FastifyRequest } from 'fastify'
import { beginRequest, type OwnSpan, type RequestSpan } from '../kernel/own-spans.ts'

/** Where spans of requests go, and the share of the requests without a trace of their caller that have them. */
export type RequestSpans = { readonly sink: (span: OwnSpan) => void; readonly share: number }

/** Records requests as spans. Add it before other hooks, so that what they do belongs to the request. */
export function addRequestSpans(app: FastifyInstance, { sink, share }: RequestSpans): void {
  const open = new WeakMap<FastifyRequest, RequestSpan>()
  app.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers
    const span = beginRequest(sink, share, typeof traceparent === 'string' ? traceparent : undefined)
    if (!span) return done()
    open.set(request, span)
    span.within(done)
  })
  // Bodies arrive with events of the connection, which many requests share.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = open.get(request)
    if (span) span.within(done)
    else done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const action = request.facts?.action ?? 'unknown'
    const route = request.rawRequest ? action : (request.routeOptions.url ?? 'unknown')
    open.get(request)?.end({
      name: `${request.method} ${route}`,
      facts: {
        'http.request.method': request.method,
        'http.route': route,
        'http.response.status_code': reply.statusCode,
        'dendro.action': action,
        'dendro.organization_id': request.actor?.orgId,
        'dendro.correlation_id': request.facts?.correlationId,
      },
      isFailed: reply.statusCode >= 500,
    })
    done()
  })
}
