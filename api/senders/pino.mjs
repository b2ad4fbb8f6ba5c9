import pino from 'pino'

const options = { url: '__URL__', key: '__KEY__', dataset: 'app' }
const log = pino(pino.transport({ target: '@dendro/logs/pino', options }))

log.warn({ customer: { id: 9 } }, 'order 7 is late')
