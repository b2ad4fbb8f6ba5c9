import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contract } from '../../../api/src/contract.ts'
import { openApiDocument } from '../../../api/src/openapi.ts'
import { pythonClient } from './python-client.ts'

/** Writes the Python client after a change of the contract. */
writeFileSync(join(import.meta.dirname, '../dendro/api.py'), pythonClient(openApiDocument(contract, { servers: [{ url: '/' }] })))
