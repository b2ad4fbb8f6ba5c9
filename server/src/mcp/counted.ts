/** A number with its noun, in the singular where the number is 1. */
export const counted = (count: number | bigint, noun: string, plural = `${noun}s`): string => `${count} ${isOne(count) ? noun : plural}`

/** The form of a verb for a number: `1 event matches`, `2 events match`. */
export const verb = (count: number | bigint, singular: string, plural: string): string => (isOne(count) ? singular : plural)

const isOne = (count: number | bigint): boolean => Number(count) === 1
