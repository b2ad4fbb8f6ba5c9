/** Computes something from an object once. The value goes with the object, which must not change. */
export function oncePerObject<K extends object, V>(compute: (object: K) => V): (object: K) => V {
  const values = new WeakMap<K, { readonly value: V }>()
  return (object) => {
    const known = values.get(object) ?? { value: compute(object) }
    values.set(object, known)
    return known.value
  }
}
