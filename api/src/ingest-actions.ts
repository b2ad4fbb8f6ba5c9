import { z } from 'zod'
import { datasetName } from './datasets.ts'
import { list, Tags, text, withoutControls } from './values.ts'

const REPLACEMENT_CHARS_MAX = 100
const KEY_CHARS_MAX = 1_024
const VALUE_CHARS_MAX = 4_096
const EXPRESSION_CHARS_MAX = 1_000
const PARSER_CHARS_MAX = 2_048
const EXPRESSIONS_MAX = 10
const FIELDS_MAX = 50
const TABLE_CHARS_MAX = 100
const COLUMNS_MAX = 50
const PREFIX_CHARS_MAX = 100
const GROUPS_MAX = 5
const DAY_MS = 86_400_000
const WAIT_S_MAX = 300

/** The collection of the counts that rules make. */
export const METRICS_COLLECTION = 'metrics'

/** The kinds of secrets and personal data that a rule finds without an expression. */
export const redactedKinds = ['CARD_NUMBER', 'EMAIL', 'TOKEN', 'SECRET_KEY'] as const
export type RedactedKind = (typeof redactedKinds)[number]

const DropAction = z.strictObject({ type: z.literal('DROP') }).meta({ id: 'IngestDrop', description: 'Stores no matching event.' })

const SampleAction = z
  .strictObject({
    type: z.literal('SAMPLE'),
    keep: z.number().min(0).max(1).describe('The share of the matching events that is stored, from 0 to 1.'),
    key: text(1, KEY_CHARS_MAX)
      .optional()
      .describe(
        'Events with the same value of this key are all stored or all dropped, in every dataset and process. Without it, and for events without the key, the line decides.',
      ),
  })
  .meta({ id: 'IngestSample', description: 'Stores a share of the matching events.' })

const TailSampleAction = z
  .strictObject({
    type: z.literal('TAIL_SAMPLE'),
    keep: z.number().min(0).max(1).describe('The share of the other traces that is stored, from 0 to 1, chosen by the trace id.'),
    keep_errors: z.boolean().default(true).describe('Stores each trace with a failed span.'),
    slower_than_ms: z.int().min(1).max(DAY_MS).optional().describe('Stores each trace with a span that took at least this long.'),
    wait_s: z
      .int()
      .min(1)
      .max(WAIT_S_MAX)
      .default(30)
      .describe('How long the first spans of a trace wait for the others before it is decided. They are not found meanwhile.'),
  })
  .meta({
    id: 'IngestTailSample',
    description:
      'Stores whole traces or nothing of them: those with failures, slow ones, and a share of the others. Events without a trace id of spans stay as they are.',
  })

const Expression = z.strictObject({
  pattern: text(1, EXPRESSION_CHARS_MAX).describe('A regular expression in the syntax of RE2, which is matched in linear time.'),
  ignore_case: z.boolean().default(false),
})

const RedactAction = z
  .strictObject({
    type: z.literal('REDACT'),
    kinds: list(z.enum(redactedKinds), { max: redactedKinds.length })
      .default([])
      .describe(
        '`CARD_NUMBER`: numbers of payment cards with a valid check digit. `EMAIL`: e-mail addresses. `TOKEN`: bearer tokens and JSON Web Tokens. `SECRET_KEY`: keys of clouds and APIs with a known prefix, and private keys in PEM.',
      ),
    expressions: list(Expression, { max: EXPRESSIONS_MAX })
      .default([])
      .describe('Further values to replace. At least one kind or expression is required.'),
    replacement: withoutControls(text(0, REPLACEMENT_CHARS_MAX)).default('[REDACTED]').describe('The text that replaces each value.'),
  })
  .meta({
    id: 'IngestRedact',
    description:
      'Replaces values in matching events: in text lines, in names and values of JSON lines, and in the attributes that a protocol adds.',
  })

const fieldName = withoutControls(text(1, KEY_CHARS_MAX))

const AddFieldsAction = z
  .strictObject({
    type: z.literal('ADD_FIELDS'),
    fields: list(z.object({ name: fieldName, value: text(1, VALUE_CHARS_MAX) }), { min: 1, max: FIELDS_MAX }).describe(
      'Fields that each matching event gets. A field of the same name is replaced.',
    ),
  })
  .meta({ id: 'IngestAddFields', description: 'Adds fields to matching events: as members of a JSON line, otherwise beside the line.' })

const RenameFieldsAction = z
  .strictObject({
    type: z.literal('RENAME_FIELDS'),
    fields: list(z.object({ from: fieldName, to: fieldName }), { min: 1, max: FIELDS_MAX }).describe(
      'Applied one after the other. A field that has the new name already is replaced; an event without the field stays as it is.',
    ),
  })
  .meta({
    id: 'IngestRenameFields',
    description: 'Renames fields of JSON lines, and those that a protocol or a rule adds. Fields that are found in text lines stay.',
  })

const RemoveFieldsAction = z
  .strictObject({
    type: z.literal('REMOVE_FIELDS'),
    names: list(fieldName, { min: 1, max: FIELDS_MAX }).describe('The name of an object removes all that is in it.'),
  })
  .meta({
    id: 'IngestRemoveFields',
    description: 'Removes fields of JSON lines, and those that a protocol or a rule adds. Fields that are found in text lines stay.',
  })

const ParseAction = z
  .strictObject({
    type: z.literal('PARSE'),
    format: z.enum(['GROK', 'DISSECT']).describe('The language of the pattern, as in parsers.'),
    pattern: text(1, PARSER_CHARS_MAX),
    key: text(1, KEY_CHARS_MAX).optional().describe('The field to parse; without it the message of a JSON line, or the text line.'),
  })
  .meta({ id: 'IngestParse', description: 'Adds the fields that a pattern finds. Fields that a JSON line has already stay.' })

const SetTagsAction = z
  .strictObject({
    type: z.literal('SET_TAGS'),
    tags: Tags.describe('Attributes that each matching event gets, as `$name`; at least one. They replace tags of the same name.'),
  })
  .meta({ id: 'IngestSetTags', description: 'Sets tags of matching events.' })

const ownName = datasetName.refine((name) => !name.startsWith('.'), 'must not begin with a dot: such names belong to the system')

const SetDatasetAction = z
  .strictObject({
    type: z.literal('SET_DATASET'),
    collection: ownName.optional().describe('Absent keeps the collection.'),
    dataset: ownName,
  })
  .meta({
    id: 'IngestSetDataset',
    description:
      'Stores matching events in another dataset, which the first of them creates. Of the rules that follow, those of the new dataset apply to them.',
  })

const LookupAction = z
  .strictObject({
    type: z.literal('LOOKUP'),
    table: text(1, TABLE_CHARS_MAX).describe('The name of a lookup table.'),
    key: text(1, KEY_CHARS_MAX).describe('The field whose value is looked up in the key column of the table. Values are compared exactly.'),
    columns: list(text(1, KEY_CHARS_MAX), { max: COLUMNS_MAX })
      .default([])
      .describe('The columns to add as fields; all but the key column when empty.'),
    prefix: withoutControls(text(0, PREFIX_CHARS_MAX))
      .optional()
      .describe('Precedes the names of the columns in the names of the fields, as in `user.`.'),
  })
  .meta({ id: 'IngestLookup', description: 'Adds the values of the row of a lookup table that the value of a field selects.' })

const GeoAction = z
  .strictObject({
    type: z.literal('GEOIP'),
    key: text(1, KEY_CHARS_MAX).describe('The field with an address, or with a list of them, whose first one counts.'),
    prefix: withoutControls(text(1, PREFIX_CHARS_MAX))
      .default('geo.')
      .describe(
        'Precedes the names of the fields: `continent`, `country`, `country_name`, `region`, `city`, `latitude`, `longitude`, `time_zone`, `asn`, `organization`.',
      ),
  })
  .meta({
    id: 'IngestGeoip',
    description: 'Adds where a network address is, and whose network it belongs to, from the databases of this deployment.',
  })

const CountAction = z
  .strictObject({
    type: z.literal('COUNT'),
    metric: ownName.describe('The dataset in the collection `metrics` that gets the counts.'),
    by: list(text(1, KEY_CHARS_MAX), { max: GROUPS_MAX }).default([]).describe('Fields by whose values events are counted.'),
  })
  .meta({
    id: 'IngestCount',
    description:
      'Counts matching events: each post adds an event to the dataset of the metric for every combination of the values of `by`, with the number of events in `count`. The events themselves stay as they are.',
  })

export const IngestAction = z
  .discriminatedUnion('type', [
    DropAction,
    SampleAction,
    TailSampleAction,
    RedactAction,
    AddFieldsAction,
    RenameFieldsAction,
    RemoveFieldsAction,
    ParseAction,
    SetTagsAction,
    SetDatasetAction,
    LookupAction,
    GeoAction,
    CountAction,
  ])
  .meta({ id: 'IngestAction', description: 'The change that a rule makes to matching events.' })
export type IngestAction = z.output<typeof IngestAction>
