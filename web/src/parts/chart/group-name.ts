/** The value of the service for events without the field; the text `null` has the same value. */
export const ABSENT = 'null'

/** A value as every page writes it. */
export const valueName = (value: string): string => (value === ABSENT ? '(none)' : value === '' ? '(empty)' : value)

/** Names a group by its values. */
export const groupName = (values: readonly string[]): string => values.map(valueName).join(' · ')
