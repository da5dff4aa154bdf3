// Loaded into a Berth by `--import`: SIGUSR2 blocks its event loop for as long as BERTH_TEST_STANDSTILL_MS says, as a
// computation without end would. Sockets stay open, timers are late, and nothing of it can be noticed from inside.
process.on('SIGUSR2', () => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(process.env.BERTH_TEST_STANDSTILL_MS))
})
