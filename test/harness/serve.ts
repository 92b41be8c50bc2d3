import { loadDaemon } from '../../src/bundle.js';

const { runDaemon, StartRefused } = await loadDaemon();

/** The daemon as a process of its own, as `adjutant serve` runs it: settings from the environment. */
try {
  await runDaemon({}, (line) => console.log(line));
} catch (error) {
  if (!(error instanceof StartRefused)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
