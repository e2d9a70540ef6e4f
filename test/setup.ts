import fc from 'fast-check'

// A property test that draws other inputs each time finds more over the weeks, but a red run then says nothing about the
// change at hand. `ROUSE_SEED=$RANDOM npm test` goes looking; what it finds becomes a case.
fc.configureGlobal({ seed: Number(process.env.ROUSE_SEED ?? 20261130) })
