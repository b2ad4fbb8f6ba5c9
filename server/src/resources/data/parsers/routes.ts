import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { findDataset } from '../datasets/datasets.ts'
import { assign, getAssigned, unassign } from './assignment.ts'
import { parserMetrics } from './metrics.ts'
import { createParser, findParser, listParsers, removeParser, updateParser } from './parsers.ts'
import { detectParser, type FormReader, testPattern } from './trial.ts'

const byDatasetId =
  (world: World) =>
  ({ actor, params }: RecordPath<'datasetId'>) =>
    findDataset(world, actor, params.datasetId)

export const parserRoutes = (world: World, readForm: FormReader): Routes =>
  routes('parsers', contract.parsers, {
    list: ({ actor }) => listParsers(world, actor),
    create: ({ actor, body, signal }) => createParser(world, actor, body, signal),
    update: onRecord(
      ({ actor, params }) => findParser(world, actor, params.parserId),
      ({ actor, record, body }) => updateParser(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findParser(world, actor, params.parserId),
      ({ actor, record }) => removeParser(world, actor, record),
    ),
    assigned: onRecord(byDatasetId(world), ({ actor, record }) => getAssigned(world, actor, record)),
    assign: onRecord(byDatasetId(world), ({ actor, record, body }) => assign(world, actor, record, body.parser_id)),
    unassign: onRecord(byDatasetId(world), ({ actor, record }) => unassign(world, actor, record)),
    test: ({ body }) => testPattern(body),
    usage: ({ actor, query }) => parserMetrics(world, actor, query),
    ratio: ({ actor, query }) => parserMetrics(world, actor, query),
    detect: ({ actor, body, signal }) => detectParser(world, actor, body, { readForm, signal }),
  })
