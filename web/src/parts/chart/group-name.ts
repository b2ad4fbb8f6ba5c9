/** ABSENT is the value of the service for events without the field; the text `null` has the same value. */
export const ABSENT = 'null'

/** valueName is a value as every page writes it. */
export const valueName = (value: string): string => (value === ABSENT ? '(none)' : value === '' ? '(empty)' : value)

/** groupName names a group by its values. */
export const groupName = (values: readonly string[]): string => values.map(valueName).join(' · ')
