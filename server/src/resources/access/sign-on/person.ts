import { type Claims, domainOf, type IdpRow } from '../sso/sso.ts'

type Person = { email: string | undefined; names: { first_name: string; last_name: string } }

const NAME_LENGTH_MAX = 255
const EMAIL_LENGTH_MAX = 254

/** The names in claims, and the e-mail address if the provider has verified it and is responsible for its domain. */
export function readPerson(claims: Claims, idp: Pick<IdpRow, 'identifiers' | 'attribute_mappings'>): Person {
  const email = textIn(claims, 'email')
  const isTrusted =
    email !== undefined &&
    email.length <= EMAIL_LENGTH_MAX &&
    /^[^\s@]+@[^\s@]+$/.test(email) &&
    isVerified(claims) &&
    idp.identifiers.includes(domainOf(email))
  const named = (attribute: 'first_name' | 'last_name', usual: string): string | undefined => {
    const mapped = idp.attribute_mappings.find(({ user_attr }) => user_attr === attribute)
    return textIn(claims, mapped?.provider_attr ?? usual)
  }
  const otherwise = textIn(claims, 'name') ?? email?.split('@')[0] ?? 'Unknown'
  return {
    email: isTrusted ? email : undefined,
    names: { first_name: named('first_name', 'given_name') ?? otherwise, last_name: named('last_name', 'family_name') ?? '-' },
  }
}

/** `xms_edov` is how Entra ID says that the domain of an e-mail address is verified. */
const isVerified = ({ email_verified, xms_edov }: Claims): boolean =>
  email_verified === undefined ? isTrue(xms_edov) || xms_edov === 1 || xms_edov === '1' : isTrue(email_verified)

const isTrue = (value: unknown): boolean => value === true || value === 'true'

function textIn(claims: Claims, name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'string' && value.trim() !== '' && !value.includes('\0') ? value.trim().slice(0, NAME_LENGTH_MAX) : undefined
}
