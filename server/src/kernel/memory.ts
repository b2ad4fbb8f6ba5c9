/**
 * Frees memory that nothing reads any more. Left to garbage collection, memory of this size starts collections of a whole heap that holds little
 * garbage. Memory of which the bytes are only a part stays.
 */
export function freeBytes({ buffer, length }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
