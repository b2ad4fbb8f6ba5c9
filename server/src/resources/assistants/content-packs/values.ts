import type { ContentPackParameter } from '@dendro/api'
import { badField } from '../../../kernel/errors.ts'
import type { ContentPack, FieldParameter, NumberParameter } from './pack.ts'
import type { FieldSample, FittingFields } from './recognize.ts'

export type GivenParameters = Readonly<Record<string, string | number>>

/** Resolves the parameters of a pack: what was given, else what the dataset suggests. A parameter that the pack lacks is a 400. */
export function resolveParameters(
  pack: ContentPack,
  fields: FittingFields,
  sample: FieldSample,
  given: GivenParameters = {},
): ContentPackParameter[] {
  const unknown = Object.keys(given).find((name) => !pack.parameters.some((parameter) => parameter.name === name))
  if (unknown !== undefined) throw badField(`parameters.${unknown}`, `is no parameter of the content pack ${pack.id}`, 'UNKNOWN_PARAMETER')
  const givenValue = (name: string) => (Object.hasOwn(given, name) ? given[name] : undefined)
  const chosen = new Map(
    pack.parameters.flatMap((parameter) =>
      parameter.type === 'FIELD' ? [[parameter.name, fieldValue(parameter, fields, givenValue(parameter.name))] as const] : [],
    ),
  )
  return pack.parameters.map((parameter) =>
    parameter.type === 'FIELD'
      ? shownField(parameter, fields, chosen.get(parameter.name) ?? null, givenValue(parameter.name) === undefined)
      : shownNumber(parameter, { fields, sample, chosen }, givenValue(parameter.name)),
  )
}

function fieldValue({ name }: FieldParameter, fields: FittingFields, given: string | number | undefined): string | null {
  if (given === undefined) return fields.get(name)?.[0]?.field ?? null
  if (typeof given === 'number') throw badField(`parameters.${name}`, 'must be the name of a field', 'INVALID_TYPE')
  return given.trim() === '' ? null : given
}

function shownField(
  { name, label }: FieldParameter,
  fields: FittingFields,
  value: string | null,
  isDefault: boolean,
): ContentPackParameter {
  const fitting = fields.get(name) ?? []
  const unit = fitting.find(({ field }) => field === value)?.unit
  const candidates = fitting.map(({ field }) => field)
  return { name, label, type: 'FIELD', value, is_default: isDefault, ...(unit === undefined ? {} : { unit }), candidates }
}

type Suggesting = { fields: FittingFields; sample: FieldSample; chosen: ReadonlyMap<string, string | null> }

function shownNumber(parameter: NumberParameter, from: Suggesting, given: string | number | undefined): ContentPackParameter {
  const { name, label } = parameter
  if (typeof given === 'string') throw badField(`parameters.${name}`, 'must be a number', 'INVALID_TYPE')
  const measured = parameter.field && from.chosen.get(parameter.field.name)
  const unit = parameter.unit ?? from.fields.get(parameter.field?.name ?? '')?.find(({ field }) => field === measured)?.unit
  const value = given ?? suggested(parameter, measured ? (from.sample.facts.get(measured)?.numbers ?? []) : [])
  return { name, label, type: 'NUMBER', value, is_default: given === undefined, ...(unit === undefined ? {} : { unit }), candidates: [] }
}

const PERCENTILE = 0.95

function suggested(parameter: NumberParameter, numbers: readonly number[]): number {
  const inOrder = numbers.toSorted((a, b) => a - b)
  const high = inOrder[Math.min(inOrder.length - 1, Math.floor(inOrder.length * PERCENTILE))]
  if (parameter.field === undefined || high === undefined || high <= 0) return parameter.default
  return roundUp(high * parameter.field.times)
}

/** Rounds up to one digit followed by zeros, as people choose thresholds: 1, 2, 3 … 10, 20 … */
export function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value))
  return Number((Math.ceil(Number((value / unit).toPrecision(12))) * unit).toPrecision(12))
}
