import { LINE_ROLES, NESTED_ROLES } from './memory'

/**
 * The keys with a meaning, numbered in the order in which they are checked (roles in line-kernel.ts): times, messages, levels (the last one is `status`), other codes of
 * HTTP, exceptions, and the key that keeps a refused time.
 */
export const TIME_FIRST: i32 = 1
export const TIME: i32 = 3
export const TIME_LAST: i32 = 6
export const MESSAGE_FIRST: i32 = 7
export const MSG: i32 = 8
export const MESSAGE_LAST: i32 = 11
export const LEVEL_FIRST: i32 = 12
export const LEVEL_LAST: i32 = 17
export const STATUS: i32 = 17
export const STATUS_FIRST: i32 = 18
export const STATUS_LAST: i32 = 23
export const EXCEPTION_FIRST: i32 = 24
export const EXCEPTION_LAST: i32 = 34
export const ORIGINAL_TIME: i32 = 35

let inLine: u64 = 0
let inMessage: u64 = 0

export function clearRoles(): void {
  inLine = 0
  inMessage = 0
}

export function clearNestedRoles(): void {
  inMessage = 0
}

/** The roles from one to another, as bits. */
export function roleMask(first: i32, last: i32): u64 {
  return ((u64(1) << u64(last + 1)) - 1) ^ ((u64(1) << u64(first)) - 1)
}

/** True when the line, or the object in its message, has one of the roles. */
export function isThere(mask: u64): bool {
  return ((inLine | inMessage) & mask) !== 0
}

export function setLineRole(role: i32, value: i32): void {
  inLine |= u64(1) << u64(role)
  store<i32>(LINE_ROLES + role * 4, value)
}

export function unsetLineRole(role: i32): void {
  inLine &= ~(u64(1) << u64(role))
}

export function setNestedRole(role: i32, value: i32): void {
  inMessage |= u64(1) << u64(role)
  store<i32>(NESTED_ROLES + role * 4, value)
}

/** The value of a role in the line, 0 for none. */
export function lineRole(role: i32): i32 {
  return (inLine >> u64(role)) & 1 ? load<i32>(LINE_ROLES + role * 4) : 0
}

export function nestedRole(role: i32): i32 {
  return (inMessage >> u64(role)) & 1 ? load<i32>(NESTED_ROLES + role * 4) : 0
}
