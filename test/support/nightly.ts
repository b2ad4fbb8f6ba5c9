/** Whether tests do all that they can, as in the nightly run, and bounds in time are checked. */
export const isNightly = process.env.DENDRO_TEST_ALL !== undefined
