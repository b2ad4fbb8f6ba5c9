import { apiKeys } from './api-keys.ts'
import { audit } from './audit.ts'
import { datasets } from './datasets.ts'
import { health } from './health.ts'
import { reference } from './reference.ts'

/** contract is every endpoint of the service: what is not here does not exist. */
export const contract = { apiKeys, audit, datasets, health, reference }
