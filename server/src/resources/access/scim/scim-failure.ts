import { Failure } from '../../../kernel/errors.ts'

/** The reasons that the protocol names for a 400 or 409. */
type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'mutability' | 'noTarget' | 'tooMany' | 'uniqueness'

/** A failure with a reason that SCIM clients understand. */
export class ScimFailure extends Failure {
  readonly scimType: ScimType

  constructor(scimType: ScimType, details: string) {
    super(scimType === 'uniqueness' ? 409 : 400, details)
    this.scimType = scimType
  }
}

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** The body of a failed SCIM request. */
export const scimErrorOf = (failure: Failure): object => ({
  schemas: [ERROR],
  status: String(failure.status),
  ...(failure instanceof ScimFailure ? { scimType: failure.scimType } : failure.status === 400 ? { scimType: 'invalidValue' } : {}),
  detail: failure.message,
})
