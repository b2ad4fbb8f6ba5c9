/** The functions of the host (line-kernel.ts). It is asked only about texts that were not seen before. */

/** Names the path of a new key of an object; NAMELESS for a key that is too long. */
export declare function learnKey(key: i32, parent: i32, start: i32, length: i32): i32
/** True when the object of a key is an open map of the dataset. */
export declare function isOpenMap(key: i32): bool
/** Reads a time. The number of its format plus 1, 0 for a time that no format reproduces, -1 for a text that is no time. */
export declare function readTime(start: i32, length: i32): i32
/** The number of a format of times plus 1. */
export declare function learnFormat(start: i32, length: i32): i32
/** The instant of the time that was read last. */
export declare function timeMs(): f64
export declare function timeNs(): i32
/** The severity of a word, 0 for none. */
export declare function severityOfWord(start: i32, length: i32): i32
/** The column of a path in the dataset, -1 for one without a slot. */
export declare function columnOf(path: i32): i32
/** The overflow key of a path in the block. */
export declare function overflowKeyOf(path: i32): i32
