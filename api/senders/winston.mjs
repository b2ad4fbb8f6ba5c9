import { DendroTransport } from '@dendro/logs/winston'
import winston from 'winston'

const options = { url: '__URL__', key: '__KEY__', dataset: 'app' }
const log = winston.createLogger({ transports: [new DendroTransport(options)] })

log.warn('order 7 is late', { customer: { id: 9 } })
