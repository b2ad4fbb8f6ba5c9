import fc from 'fast-check'

/** Random cases are the same in every run, so that no run is decided by chance; a nightly run takes new ones. */
fc.configureGlobal({ seed: Number(process.env.DENDRO_TEST_SEED ?? 20_261_121) })
